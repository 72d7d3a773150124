import TOML

extension ConfigurationKey {
    static func texts(_ values: [String]) -> TOMLNode.Value {
        .array(values.map { TOMLNode(.string($0), line: 0) })
    }

    static let rabbitMQURL = ConfigurationKey(
        section: "rabbitmq", name: "url", kind: .strings, standard: .string("amqp://guest:guest@127.0.0.1:5672/"),
        isSecret: true,
        summary: "The broker, or several nodes of one cluster.",
        details: """
            Write amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps:// for TLS (1.2 or newer, certificate and host name \
            verified). Several nodes are an array, or one string with commas. Write special characters in the \
            password as %XX.
            """)
    static let rabbitMQCAFile = ConfigurationKey(
        section: "rabbitmq", name: "ca_file", kind: .string, standard: .string(""),
        summary: "A PEM file with an extra trust anchor for amqps://.",
        details: "\"\" trusts the system's anchors only.")
    static let rabbitMQNamespace = ConfigurationKey(
        section: "rabbitmq", name: "namespace", kind: .string, standard: .string("apus"),
        summary: "The prefix of the names of all exchanges and queues.",
        details: "1 to 64 letters, digits, '-', '_'.")
    static let rabbitMQPrefetch = ConfigurationKey(
        section: "rabbitmq", name: "prefetch", kind: .integer(1...65_535), standard: .integer(1_000),
        summary: "The most unacknowledged messages that a worker holds.",
        details: "The value bounds the duplicates after a crash. Less than 100 costs throughput.")
    static let rabbitMQWorkQueues = ConfigurationKey(
        section: "rabbitmq", name: "work_queues", kind: .integer(1...64), standard: .integer(1),
        summary: "The number of queues that share the events by routing key.",
        details: """
            Use more than one for rates above those of one quorum queue. That needs events with different routing \
            keys, and RabbitMQ's plugin rabbitmq_consistent_hash_exchange. The number can change while workers run: \
            run 'apus topology apply', restart the workers, apply again.
            """)
    static let rabbitMQManagementURL = ConfigurationKey(
        section: "rabbitmq", name: "management_url", kind: .string, standard: .string(""), isSecret: true,
        summary: "RabbitMQ's management API, for finding policies that lose messages.",
        details: """
            Write http://HOST:15672 or https://HOST:15671; "" is none. AMQP does not show policies, and a policy can \
            make RabbitMQ drop messages. With this URL, 'apus check --connect', 'apus topology apply' and a starting \
            worker report such policies. The user is the one of rabbitmq.url unless this URL names another; the user \
            needs the tag management.
            """)
    static let registryURL = ConfigurationKey(
        section: "registry", name: "url", kind: .string, standard: .string("sqlite:registry.db"), isSecret: true,
        summary: "The store of devices and subscriptions.",
        details: """
            Write sqlite:PATH, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full for workers on \
            several machines. With a standby: …@HOST1,HOST2/DATABASE?target_session_attrs=read-write.
            """,
        effect: .afterRestart)
    static let registryListen = ConfigurationKey(
        section: "registry", name: "listen", kind: .string, standard: .string(""),
        summary: "Where 'apus run' serves the registry's API, as HOST:PORT.",
        details: """
            "" is nowhere. 'apus registry' serves the API without a worker; there "" means 127.0.0.1:8080. An \
            address that other machines reach needs a certificate.
            """,
        effect: .afterRestart)
    static let registryPublicURL = ConfigurationKey(
        section: "registry", name: "public_url", kind: .string, standard: .string(""),
        summary: "The URL of the API for its clients, for example https://HOST.",
        details: """
            Clients without a push service fetch their notifications below this URL. Without it 'tokens/create' is \
            refused, unless the API listens on an address that only this machine reaches.
            """)
    static let registryCertificateFile = ConfigurationKey(
        section: "registry", name: "certificate_file", kind: .string, standard: .string(""),
        summary: "A PEM file with the API's certificate and its chain.",
        details: "\"\" serves plain HTTP.")
    static let registryKeyFile = ConfigurationKey(
        section: "registry", name: "key_file", kind: .string, standard: .string(""),
        summary: "A PEM file with the private key of that certificate.",
        details: "Keep its mode 600.")
    static let registryIsInsecure = ConfigurationKey(
        section: "registry", name: "insecure", kind: .boolean, standard: .boolean(false),
        summary: "Whether other machines may reach the API without TLS.",
        details: "Set it behind a proxy that has the certificate.")
    static let registryAccessKeys = ConfigurationKey(
        section: "registry", name: "access_keys", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .firstWord,
        summary: "The access keys of Amazon Cognito Sync clients.",
        details: """
            Each is "ID SECRET", or "ID SECRET POOL ..." to allow some identity pools only. Prefer access_keys_file.
            """)
    static let registryAccessKeysFile = ConfigurationKey(
        section: "registry", name: "access_keys_file", kind: .string, standard: .string(""),
        summary: "A file with more access keys, one a line.",
        details: "Keep its mode 600. \"\" is none.")
    static let registryServerKeys = ConfigurationKey(
        section: "registry", name: "server_keys", kind: .strings, standard: texts([]),
        summary: "The keys of servers that sign CloudKit Web Services requests.",
        details: """
            Each is "ID APP read FILE" or "ID APP write FILE". FILE holds the public key as PEM. An optional fifth \
            word names the user of the requests; the default is ID. These keys reach the public database only, as with \
            Apple.
            """)
    static let registryAllowedOrigins = ConfigurationKey(
        section: "registry", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "The origins whose pages may use CloudKit Web Services (CORS).",
        details: """
            Each is https://HOST or https://HOST:PORT as browsers write it, without 443 or 80 of the scheme; "*" is \
            every page.
            """)
    static let registryRequestsPerSecond = ConfigurationKey(
        section: "registry", name: "requests_per_second", kind: .integer(1...100_000), standard: .integer(100),
        summary: "The requests a second of each key or token.",
        details: "A burst may be four times as large. Requests above it are answered with 429.")
    static let registryHosts = ConfigurationKey(
        section: "registry", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Additional host names under which clients reach the API.",
        details: """
            The host of public_url, localhost, this machine's own name and numeric addresses are always served. A \
            request for another name is answered with 421, so that no web page reaches the API by a name of its own. \
            ["*"] serves all names.
            """)
    static let registryConnectionsPerAddress = ConfigurationKey(
        section: "registry", name: "connections_per_address", kind: .integer(0...100_000), standard: .integer(256),
        summary: "The connections to the API from one address; 0 is no limit.",
        details: "A connection above the limit is answered with 503. An IPv6 network of 64 bits counts as one address.")
    static let registryTrustedProxies = ConfigurationKey(
        section: "registry", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "The numeric addresses of proxies in front of the API.",
        details: "Proxies have no limit of connections. The last address in their X-Forwarded-For is the client's.")
    static let retryDelays = ConfigurationKey(
        section: "retry", name: "delays", kind: .timeSpans(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)),
        standard: texts(["1s", "5s", "30s", "2m", "15m", "1h"]),
        summary: "The steps of the retry ladder, ascending, 1 to 16.",
        details: "Each step is a queue. After a change run 'apus topology apply'.")
    static let retryAttemptsMaximum = ConfigurationKey(
        section: "retry", name: "max_attempts", kind: .integer(1...1_000), standard: .integer(10),
        summary: "The attempts of a push before it becomes a dead letter.")
    static let retryAgeMaximum = ConfigurationKey(
        section: "retry", name: "max_age", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(720)),
        standard: .string("24h"),
        summary: "The age at which an event's failing pushes become dead letters.",
        details: """
            The age counts from publishing: from the AMQP property timestamp, or from the time at which Apus first \
            saw the event.
            """)
    static let retryServerErrorDelay = ConfigurationKey(
        section: "retry", name: "server_error_delay",
        kind: .timeSpan(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)), standard: .string("15m"),
        summary: "The least delay of the first retry after a 500 or 503 of APNs.",
        details: "The retry takes the first step of the ladder that is long enough. Apple asks for 15 minutes.")
    static let fanOutThreshold = ConfigurationKey(
        section: "fanout", name: "threshold_devices", kind: .integer(250...10_000_000), standard: .integer(1_000),
        summary: "An event to more devices than this is served in chunks, by all workers.",
        details: "An event to fewer devices is served by one worker.")
    static let fanOutChunk = ConfigurationKey(
        section: "fanout", name: "chunk_devices", kind: .integer(250...10_000), standard: .integer(2_000),
        summary: "The most devices in one chunk.",
        details: """
            A crash may repeat one chunk of an app and at most 500 devices of the next. The size also bounds the \
            pushes in flight of large fan-outs, and the time that a worker needs to stop.
            """)
    static let adminListen = ConfigurationKey(
        section: "admin", name: "listen", kind: .string, standard: .string("127.0.0.1:9464"),
        summary: "Where /livez, /readyz, /metrics and /version are served, as HOST:PORT.",
        details: "\"\" is nowhere.",
        effect: .afterRestart)
    static let adminHosts = ConfigurationKey(
        section: "admin", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Additional host names of the admin server, for example for Prometheus.",
        details: """
            localhost, this machine's own name and numeric addresses are always served. A request for another name \
            is answered with 421. ["*"] serves all names.
            """,
        effect: .afterRestart)
    static let adminPagePath = ConfigurationKey(
        section: "admin", name: "page_path", kind: .string, standard: .string("/ui"),
        summary: "The path of the operator's page on the admin server.",
        details: """
            "" is no page. Without a login (users_file or user_header) only this machine's users may use it. See \
            deploy/operator-page.md.
            """)
    static let adminUsersFile = ConfigurationKey(
        section: "admin", name: "users_file", kind: .string, standard: .string(""),
        summary: "The file of the page's users with the hashes of their passwords.",
        details: "'apus page user add' writes it. A change counts within seconds. Keep its mode 600.")
    static let adminUserHeader = ConfigurationKey(
        section: "admin", name: "user_header", kind: .string, standard: .string(""),
        summary: "The header in which a proxy with a login of its own names the page's user.",
        details: "For example X-Forwarded-User. It counts only from trusted_proxies. \"\" is none.")
    static let adminTrustedProxies = ConfigurationKey(
        section: "admin", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "The numeric addresses of the proxies whose user_header counts.",
        details: "Wrong passwords count for the last address in their X-Forwarded-For.")
    static let adminOperators = ConfigurationKey(
        section: "admin", name: "operators", kind: .strings, standard: texts([]),
        summary: "The users named by user_header who may act on the page.",
        details: "All others may only look. [\"*\"] is everybody. users_file has the roles of its own users.")
    static let adminAllowedOrigins = ConfigurationKey(
        section: "admin", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "Origins besides its own from which the page's requests are taken.",
        details: "For example https://ops.example.com. Needed only for a proxy that changes Host, and old browsers.")
    static let adminPageShowsPayloads = ConfigurationKey(
        section: "admin", name: "page_shows_payloads", kind: .boolean, standard: .boolean(false),
        summary: "Whether the page shows the contents of dead letters.",
        details: "If false, only the addressees and the attributes of an event are shown. Device tokens never are.")
    static let logLevel = ConfigurationKey(
        section: "log", name: "level", kind: .choice(["debug", "info", "warning", "error"]), standard: .string("info"),
        summary: "The least severe level that is logged to standard error.",
        effect: .inPlace)
    static let logFormat = ConfigurationKey(
        section: "log", name: "format", kind: .choice(["auto", "json", "text"]), standard: .string("auto"),
        summary: "The format of the log.",
        details: "auto is text on a terminal, else JSON.",
        effect: .afterRestart)
    static let workerDrainTimeout = ConfigurationKey(
        section: "worker", name: "drain_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(1)),
        standard: .string("30s"),
        summary: "The time that a worker has to finish its pushes after SIGTERM.",
        details: "The limit of the service manager has to be longer.")
    static let workerPushTimeout = ConfigurationKey(
        section: "worker", name: "push_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.minutes(5)),
        standard: .string("20s"),
        summary: "The time that a push service has to answer a push before it is sent again.")
    static let workerDeclaresTopology = ConfigurationKey(
        section: "worker", name: "declare_topology", kind: .boolean, standard: .boolean(false),
        summary: "Whether a starting worker creates missing exchanges and queues.",
        details: "If false, the worker reports missing ones, and 'apus topology apply' creates them.")
    static let appName = ConfigurationKey(
        section: "app", name: "name", kind: .string, standard: nil, example: .string("chat"),
        summary: "The app's name in devices, events and metrics.",
        details: "1 to 64 letters, digits, '.', '-', '_'.")
    static let appBundleID = ConfigurationKey(
        section: "app", name: "bundle_id", kind: .string, standard: nil, example: .string("com.example.chat"),
        summary: "The app's bundle identifier, the topic of its pushes.")
    static let appIdentityPools = ConfigurationKey(
        section: "app", name: "identity_pools", kind: .strings, standard: texts([]),
        example: texts(["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"]),
        summary: "The Cognito identity pools whose dataset changes belong to the app.")
    static let appKeyFile = ConfigurationKey(
        section: "app.apns", name: "key_file", kind: .string, standard: nil, example: .string("AuthKey_ABC123DEFG.p8"),
        summary: "The signing key from Apple's developer account, a PEM file.",
        details: "Keep its mode 600.")
    static let appKeyID = ConfigurationKey(
        section: "app.apns", name: "key_id", kind: .string, standard: nil, example: .string("ABC123DEFG"),
        summary: "The key's identifier, also in the name of the key file.",
        details: "Ten capital letters and digits.")
    static let appTeamID = ConfigurationKey(
        section: "app.apns", name: "team_id", kind: .string, standard: nil, example: .string("DEF123GHIJ"),
        summary: "The identifier of the team that owns the key.",
        details: "Ten capital letters and digits.")
    static let appEndpoint = ConfigurationKey(
        section: "app.apns", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's pushes, as HOST:PORT.",
        details: """
            Use it for 'apus simulate'. "" is Apple's server for the device's platform, production or sandbox.
            """)
    static let appPort = ConfigurationKey(
        section: "app.apns", name: "port", kind: .integer(1...65_535), standard: .integer(443),
        summary: "The port of Apple's servers.",
        details: "443, or 2197 where a firewall tells pushes apart by the port.")
    static let appProxy = ConfigurationKey(
        section: "app.apns", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "An HTTP proxy on the way to APNs.",
        details: """
            Write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters as %XX. The proxy must \
            allow CONNECT to the endpoint's port.
            """)
    static let appCAFile = ConfigurationKey(
        section: "app.apns", name: "ca_file", kind: .string, standard: .string(""),
        summary: "A PEM file with an extra trust anchor, for the simulator.",
        details: "\"\" trusts the system's anchors only.")
    static let appConnections = ConfigurationKey(
        section: "app.apns", name: "connections", kind: .integer(1...64), standard: .integer(2),
        summary: "The connections that a worker keeps to each of Apple's environments, one before the first push.")
    static let appConnectionsMaximum = ConfigurationKey(
        section: "app.apns", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        summary: "The most connections that a worker opens to each environment.",
        details: """
            Connections above 'connections' are opened while pushes wait for streams or flow-control windows, and \
            closed when fewer suffice.
            """)

    /// Every key, in the order of the sample.
    static let all =
        beforeQuotas + quotas + beforeApps + outcomes + analytics + webPush + ofApps + fcm + adm + appWebPush + webhook

    private static let beforeQuotas = [
        rabbitMQURL, rabbitMQCAFile, rabbitMQNamespace, rabbitMQPrefetch, rabbitMQWorkQueues, rabbitMQManagementURL,
        registryURL, registryListen, registryPublicURL, registryCertificateFile, registryKeyFile, registryIsInsecure,
        registryAccessKeys, registryAccessKeysFile, registryServerKeys, registryAllowedOrigins,
        registryRequestsPerSecond, registryHosts, registryConnectionsPerAddress, registryTrustedProxies,
    ]
    private static let beforeApps = [
        retryDelays, retryAttemptsMaximum, retryAgeMaximum, retryServerErrorDelay, fanOutThreshold, fanOutChunk,
        adminListen, adminHosts, adminPagePath, adminUsersFile, adminUserHeader, adminTrustedProxies, adminOperators,
        adminAllowedOrigins, adminPageShowsPayloads, logLevel, logFormat,
        workerDrainTimeout, workerPushTimeout, workerDeclaresTopology,
    ]
    private static let ofApps = [
        appName, appBundleID, appIdentityPools, appOutcomes, appOpens,
        appKeyFile, appKeyID, appTeamID, appEndpoint, appPort, appProxy, appCAFile, appConnections,
        appConnectionsMaximum,
    ]
}
