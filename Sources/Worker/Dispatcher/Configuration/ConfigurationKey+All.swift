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
            amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps:// for verified TLS (1.2 or newer). Several nodes: an \
            array, or commas. Special characters as %XX.
            """)
    static let rabbitMQCAFile = ConfigurationKey(
        section: "rabbitmq", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor for amqps://, PEM.")
    static let rabbitMQNamespace = ConfigurationKey(
        section: "rabbitmq", name: "namespace", kind: .string, standard: .string("apus"),
        summary: "Prefix of all names of exchanges and queues.",
        details: "1 to 64 letters, digits, '-', '_'.")
    static let rabbitMQPrefetch = ConfigurationKey(
        section: "rabbitmq", name: "prefetch", kind: .integer(1...65_535), standard: .integer(1_000),
        summary: "Most unacknowledged messages of a worker.",
        details: "Bounds the duplicates after a crash. Less than 100 costs throughput.")
    static let rabbitMQWorkQueues = ConfigurationKey(
        section: "rabbitmq", name: "work_queues", kind: .integer(1...64), standard: .integer(1),
        summary: "Queues that share the events by routing key.",
        details: "More than one needs RabbitMQ's plugin rabbitmq_consistent_hash_exchange. See deploy/rabbitmq.md.")
    static let rabbitMQManagementURL = ConfigurationKey(
        section: "rabbitmq", name: "management_url", kind: .string, standard: .string(""), isSecret: true,
        summary: "RabbitMQ's management API, to find policies that lose messages.",
        details: """
            http://HOST:15672 or https://HOST:15671. The user, by default that of rabbitmq.url, needs the tag \
            management.
            """)
    static let registryURL = ConfigurationKey(
        section: "registry", name: "url", kind: .string, standard: .string("sqlite:registry.db"), isSecret: true,
        summary: "Store of devices and subscriptions.",
        details: """
            sqlite:PATH, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full for several machines. \
            With a standby: …@HOST1,HOST2/DATABASE?target_session_attrs=read-write.
            """,
        effect: .afterRestart)
    static let registryListen = ConfigurationKey(
        section: "registry", name: "listen", kind: .string, standard: .string(""),
        summary: "Address of the registry's API in 'apus run', HOST:PORT.",
        details: """
            'apus registry' listens on 127.0.0.1:8080 without it. An address that other machines reach needs a \
            certificate.
            """,
        effect: .afterRestart)
    static let registryPublicURL = ConfigurationKey(
        section: "registry", name: "public_url", kind: .string, standard: .string(""),
        summary: "URL of the API for its clients, for example https://HOST.",
        details: """
            Clients without a push service fetch below it. 'tokens/create' needs it, unless only this machine reaches \
            the API.
            """)
    static let registryCertificateFile = ConfigurationKey(
        section: "registry", name: "certificate_file", kind: .string, standard: .string(""),
        summary: "Certificate of the API and its chain, PEM; \"\" is plain HTTP.")
    static let registryKeyFile = ConfigurationKey(
        section: "registry", name: "key_file", kind: .string, standard: .string(""),
        summary: "Private key of that certificate, PEM.")
    static let registryIsInsecure = ConfigurationKey(
        section: "registry", name: "insecure", kind: .boolean, standard: .boolean(false),
        summary: "Whether other machines may reach the API without TLS.",
        details: "For a proxy that has the certificate.")
    static let registryAccessKeys = ConfigurationKey(
        section: "registry", name: "access_keys", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .firstWord,
        summary: "Access keys of Amazon Cognito Sync clients.",
        details: "\"ID SECRET\", or \"ID SECRET POOL ...\" for some identity pools. Prefer access_keys_file.")
    static let registryAccessKeysFile = ConfigurationKey(
        section: "registry", name: "access_keys_file", kind: .string, standard: .string(""),
        summary: "File with more access keys, one a line.")
    static let registryServerKeys = ConfigurationKey(
        section: "registry", name: "server_keys", kind: .strings, standard: texts([]),
        summary: "Keys of servers that sign CloudKit Web Services requests.",
        details: """
            "ID APP read FILE" or "ID APP write FILE"; FILE has the public key as PEM. A fifth word names the user, by \
            default ID. The keys reach the public database only.
            """)
    static let registryAllowedOrigins = ConfigurationKey(
        section: "registry", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "Origins whose pages may use CloudKit Web Services (CORS).",
        details: "https://HOST or https://HOST:PORT as browsers write it, no default port; \"*\" is every page.")
    static let registryRequestsPerSecond = ConfigurationKey(
        section: "registry", name: "requests_per_second", kind: .integer(1...100_000), standard: .integer(100),
        summary: "Requests a second of each key or token.",
        details: "A burst may be four times as large; above it 429.")
    static let registryHosts = ConfigurationKey(
        section: "registry", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Further host names of the API.",
        details: """
            The host of public_url, localhost, this machine's name and numeric addresses are always served; others get \
            421. ["*"] serves all.
            """)
    static let registryConnectionsPerAddress = ConfigurationKey(
        section: "registry", name: "connections_per_address", kind: .integer(0...100_000), standard: .integer(256),
        summary: "Connections to the API from one address; 0 is no limit.",
        details: "Above it 503. An IPv6 network of 64 bits is one address.")
    static let registryTrustedProxies = ConfigurationKey(
        section: "registry", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "Numeric addresses of proxies in front of the API.",
        details: "They have no limit of connections. The last address in X-Forwarded-For is the client's.")
    static let retryDelays = ConfigurationKey(
        section: "retry", name: "delays", kind: .timeSpans(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)),
        standard: texts(["1s", "5s", "30s", "2m", "15m", "1h"]),
        summary: "Steps of the retry ladder, ascending, 1 to 16.",
        details: "Each is a queue. After a change run 'apus topology apply'.")
    static let retryAttemptsMaximum = ConfigurationKey(
        section: "retry", name: "max_attempts", kind: .integer(1...1_000), standard: .integer(10),
        summary: "Attempts of a push before it becomes a dead letter.")
    static let retryAgeMaximum = ConfigurationKey(
        section: "retry", name: "max_age", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(720)),
        standard: .string("24h"),
        summary: "Age at which an event's failing pushes become dead letters.",
        details: "Counts from the AMQP property timestamp, else from Apus' first look at the event.")
    static let retryServerErrorDelay = ConfigurationKey(
        section: "retry", name: "server_error_delay",
        kind: .timeSpan(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)), standard: .string("15m"),
        summary: "Least delay of the first retry after a 500 or 503 of APNs.",
        details: "The first step that is long enough is taken. Apple asks for 15 minutes.")
    static let fanOutThreshold = ConfigurationKey(
        section: "fanout", name: "threshold_devices", kind: .integer(250...10_000_000), standard: .integer(1_000),
        summary: "Devices above which all workers share an event, in chunks.")
    static let fanOutChunk = ConfigurationKey(
        section: "fanout", name: "chunk_devices", kind: .integer(250...10_000), standard: .integer(2_000),
        summary: "Most devices in one chunk.",
        details: """
            A crash repeats at most one chunk of an app and 500 devices of the next. Bounds the pushes in flight of \
            large fan-outs, and the time of a stop.
            """)
    static let adminListen = ConfigurationKey(
        section: "admin", name: "listen", kind: .string, standard: .string("127.0.0.1:9464"),
        summary: "Address of /livez, /readyz, /metrics and /version, HOST:PORT.",
        effect: .afterRestart)
    static let adminHosts = ConfigurationKey(
        section: "admin", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Further host names of the admin server, for example for Prometheus.",
        details: """
            localhost, this machine's name and numeric addresses are always served; others get 421. ["*"] serves all.
            """,
        effect: .afterRestart)
    static let adminPagePath = ConfigurationKey(
        section: "admin", name: "page_path", kind: .string, standard: .string("/ui"),
        summary: "Path of the operator's page there; \"\" is no page.",
        details: """
            Without a login (users_file or user_header) for this machine's users only. See deploy/operator-page.md.
            """)
    static let adminUsersFile = ConfigurationKey(
        section: "admin", name: "users_file", kind: .string, standard: .string(""),
        summary: "File of the page's users and their hashed passwords.",
        details: "Written by 'apus page user add', read again within seconds.")
    static let adminUserHeader = ConfigurationKey(
        section: "admin", name: "user_header", kind: .string, standard: .string(""),
        summary: "Header in which a proxy with a login names the page's user.",
        details: "For example X-Forwarded-User. Counts only from trusted_proxies.")
    static let adminTrustedProxies = ConfigurationKey(
        section: "admin", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "Numeric addresses of the proxies whose user_header counts.",
        details: "Wrong passwords count for the last address in their X-Forwarded-For.")
    static let adminOperators = ConfigurationKey(
        section: "admin", name: "operators", kind: .strings, standard: texts([]),
        summary: "Users named by user_header who may act on the page.",
        details: "All others only look. [\"*\"] is everybody. users_file has its own roles.")
    static let adminAllowedOrigins = ConfigurationKey(
        section: "admin", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "Further origins of the page's requests.",
        details: "For example https://ops.example.com. For proxies that change Host, and old browsers.")
    static let adminPageShowsPayloads = ConfigurationKey(
        section: "admin", name: "page_shows_payloads", kind: .boolean, standard: .boolean(false),
        summary: "Whether the page shows the contents of dead letters.",
        details: "Device tokens are never shown.")
    static let logLevel = ConfigurationKey(
        section: "log", name: "level", kind: .choice(["debug", "info", "warning", "error"]), standard: .string("info"),
        summary: "Least severe level that is logged to standard error.",
        effect: .inPlace)
    static let logFormat = ConfigurationKey(
        section: "log", name: "format", kind: .choice(["auto", "json", "text"]), standard: .string("auto"),
        summary: "Format of the log.",
        details: "auto is text on a terminal, else JSON.",
        effect: .afterRestart)
    static let workerDrainTimeout = ConfigurationKey(
        section: "worker", name: "drain_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(1)),
        standard: .string("30s"),
        summary: "Time to finish pushes after SIGTERM.",
        details: "The service manager's limit has to be longer.")
    static let workerPushTimeout = ConfigurationKey(
        section: "worker", name: "push_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.minutes(5)),
        standard: .string("20s"),
        summary: "Time for an answer of the push service, before a push is sent again.")
    static let workerDeclaresTopology = ConfigurationKey(
        section: "worker", name: "declare_topology", kind: .boolean, standard: .boolean(false),
        summary: "Whether a starting worker creates missing exchanges and queues.",
        details: "Else 'apus topology apply' does.")
    static let appName = ConfigurationKey(
        section: "app", name: "name", kind: .string, standard: nil, example: .string("chat"),
        summary: "Name in devices, events and metrics.",
        details: "1 to 64 letters, digits, '.', '-', '_'.")
    static let appBundleID = ConfigurationKey(
        section: "app", name: "bundle_id", kind: .string, standard: nil, example: .string("com.example.chat"),
        summary: "Bundle identifier, the topic of its pushes.")
    static let appIdentityPools = ConfigurationKey(
        section: "app", name: "identity_pools", kind: .strings, standard: texts([]),
        example: texts(["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"]),
        summary: "Cognito identity pools whose dataset changes belong to the app.")
    static let appKeyFile = ConfigurationKey(
        section: "app.apns", name: "key_file", kind: .string, standard: nil, example: .string("AuthKey_ABC123DEFG.p8"),
        summary: "Signing key from Apple's developer account, PEM.")
    static let appKeyID = ConfigurationKey(
        section: "app.apns", name: "key_id", kind: .string, standard: nil, example: .string("ABC123DEFG"),
        summary: "Identifier of the key, also in its file's name.",
        details: "Ten capital letters and digits.")
    static let appTeamID = ConfigurationKey(
        section: "app.apns", name: "team_id", kind: .string, standard: nil, example: .string("DEF123GHIJ"),
        summary: "Identifier of the team that owns the key.",
        details: "Ten capital letters and digits.")
    static let appEndpoint = ConfigurationKey(
        section: "app.apns", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's pushes, HOST:PORT.",
        details: "For 'apus simulate'.")
    static let appPort = ConfigurationKey(
        section: "app.apns", name: "port", kind: .integer(1...65_535), standard: .integer(443),
        summary: "Port of Apple's servers.",
        details: "443, or 2197 where a firewall tells pushes apart by the port.")
    static let appProxy = ConfigurationKey(
        section: "app.apns", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "HTTP proxy on the way to APNs.",
        details: """
            http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters as %XX. It must allow CONNECT to \
            the endpoint's port.
            """)
    static let appCAFile = ConfigurationKey(
        section: "app.apns", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM, for the simulator.")
    static let appConnections = ConfigurationKey(
        section: "app.apns", name: "connections", kind: .integer(1...64), standard: .integer(2),
        summary: "Connections kept to each of Apple's environments, one before the first push.")
    static let appConnectionsMaximum = ConfigurationKey(
        section: "app.apns", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        summary: "Most connections to each environment.",
        details: "Opened while pushes wait for streams or flow-control windows, closed when fewer suffice.")

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
