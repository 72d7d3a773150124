import TOML

extension ConfigurationKey {
    static func texts(_ values: [String]) -> TOMLNode.Value {
        .array(values.map { TOMLNode(.string($0), line: 0) })
    }

    static let rabbitMQURL = ConfigurationKey(
        section: "rabbitmq", name: "url", kind: .strings, standard: .string("amqp://guest:guest@127.0.0.1:5672/"),
        isSecret: true,
        comment: """
            The broker: amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps:// for TLS (1.2 or newer,
            certificate and host name verified). Several nodes of one cluster: an array, or one string
            with commas. Special characters in the password are written as %XX.
            A secret: rather give it as APUS_RABBITMQ_URL, or name a file that holds it in
            APUS_RABBITMQ_URL_FILE.
            """)
    static let rabbitMQCAFile = ConfigurationKey(
        section: "rabbitmq", name: "ca_file", kind: .string, standard: .string(""),
        comment: "A PEM file with an extra trust anchor for amqps://; \"\" for the system's own only.")
    static let rabbitMQNamespace = ConfigurationKey(
        section: "rabbitmq", name: "namespace", kind: .string, standard: .string("apus"),
        comment: "What the names of all exchanges and queues begin with: 1 to 64 letters, digits, '-', '_'.")
    static let rabbitMQPrefetch = ConfigurationKey(
        section: "rabbitmq", name: "prefetch", kind: .integer(1...65_535), standard: .integer(1_000),
        comment: """
            How many unacknowledged messages one worker holds at most (1 to 65535). It bounds the
            duplicates after a crash; less than 100 costs throughput.
            """)
    static let rabbitMQWorkQueues = ConfigurationKey(
        section: "rabbitmq", name: "work_queues", kind: .integer(1...64), standard: .integer(1),
        comment: """
            Over how many queues the events are spread (1 to 64): more than one for rates above what one
            queue can do, some 20000 events a second. They are spread by the routing key, which then
            has to differ from event to event; needs the plugin rabbitmq_consistent_hash_exchange. It
            can change while workers run: run 'apus topology apply', restart the workers, apply again.
            """)
    static let rabbitMQManagementURL = ConfigurationKey(
        section: "rabbitmq", name: "management_url", kind: .string, standard: .string(""), isSecret: true,
        comment: """
            RabbitMQ's management API, http://HOST:15672 or https://…; "" for none. AMQP does not tell of
            policies, which may take away what Apus relies on: with this, 'apus check --connect',
            'apus topology apply' and a worker that starts say so. The user is that of url unless the URL
            names another, http://USER:PASSWORD@HOST:15672; it needs the tag management.
            """)
    static let registryURL = ConfigurationKey(
        section: "registry", name: "url", kind: .string, standard: .string("sqlite:registry.db"), isSecret: true,
        comment: """
            The store of devices and subscriptions: sqlite:PATH, where a relative path begins at this
            file's folder, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full for
            workers on several machines. With a password it is a secret: rather give it as
            APUS_REGISTRY_URL, or name a file that holds it in APUS_REGISTRY_URL_FILE.
            """)
    static let registryListen = ConfigurationKey(
        section: "registry", name: "listen", kind: .string, standard: .string(""),
        comment: """
            Where 'apus run' serves the registry's API as well: HOST:PORT; "" for nowhere. 'apus registry'
            serves it alone, without a worker; there "" means 127.0.0.1:8080. An address that other
            machines reach needs a certificate.
            """)
    static let registryPublicURL = ConfigurationKey(
        section: "registry", name: "public_url", kind: .string, standard: .string(""),
        comment: """
            The URL by which clients reach the API: https://HOST. Clients without APNs are told to fetch
            their notifications there; without it 'tokens/create' is refused, unless the API listens on an
            address that only this machine reaches, which then serves as the URL.
            """)
    static let registryCertificateFile = ConfigurationKey(
        section: "registry", name: "certificate_file", kind: .string, standard: .string(""),
        comment: "A PEM file with the API's certificate and those that lead to its anchor; \"\" for plain HTTP.")
    static let registryKeyFile = ConfigurationKey(
        section: "registry", name: "key_file", kind: .string, standard: .string(""),
        comment: "A PEM file with the key of that certificate (mode 600, please).")
    static let registryIsInsecure = ConfigurationKey(
        section: "registry", name: "insecure", kind: .boolean, standard: .boolean(false),
        comment: """
            Whether other machines may reach the API without TLS, for example behind a proxy that has
            the certificate.
            """)
    static let registryAccessKeys = ConfigurationKey(
        section: "registry", name: "access_keys", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .firstWord,
        comment: """
            The keys that clients of Amazon Cognito Sync sign their requests with, each "ID SECRET", or
            "ID SECRET POOL ..." for the identity pools that it may be used for. Default: none. A
            secret: rather name a file in 'access_keys_file'.
            """)
    static let registryAccessKeysFile = ConfigurationKey(
        section: "registry", name: "access_keys_file", kind: .string, standard: .string(""),
        comment: "A file with more such keys, one a line (mode 600, please); \"\" for none.")
    static let registryServerKeys = ConfigurationKey(
        section: "registry", name: "server_keys", kind: .strings, standard: texts([]),
        comment: """
            The keys that servers sign their CloudKit Web Services requests with (server-to-server), each
            "ID APP read FILE" or "ID APP write FILE", where FILE holds the public key as PEM; a fifth
            word names the user on whose behalf they are, else it is the ID. They reach the public
            database only, as with Apple. Default: none.
            """)
    static let registryAllowedOrigins = ConfigurationKey(
        section: "registry", name: "allowed_origins", kind: .strings, standard: texts([]),
        comment: """
            The origins whose pages may use CloudKit Web Services in a browser (CORS), each
            https://HOST or https://HOST:PORT, or "*" for every page. Default: none.
            """)
    static let registryRequestsPerSecond = ConfigurationKey(
        section: "registry", name: "requests_per_second", kind: .integer(1...100_000), standard: .integer(100),
        comment: """
            How many requests each key or token may make in a second (1 to 100000), four times as many
            for a moment; more are answered with 429.
            """)
    static let registryHosts = ConfigurationKey(
        section: "registry", name: "hosts", kind: .strings, standard: texts([]),
        comment: """
            The names by which clients reach the API, besides that of public_url, localhost, this machine's
            own and addresses in numbers. A request for another name is answered with 421, so that no page
            in a browser reaches the API by a name of its own. ["*"] for all names.
            """)
    static let registryConnectionsPerAddress = ConfigurationKey(
        section: "registry", name: "connections_per_address", kind: .integer(0...100_000), standard: .integer(256),
        comment: """
            How many connections to the API one address may have (0 to 100000, 0 for no limit); one more
            is answered with 503. An IPv6 network of 64 bits counts as one address.
            """)
    static let registryTrustedProxies = ConfigurationKey(
        section: "registry", name: "trusted_proxies", kind: .strings, standard: texts([]),
        comment: """
            The addresses of proxies in front of the API, in numbers. They have no limit of connections,
            and the last address in their X-Forwarded-For is taken for the client's.
            """)
    static let retryDelays = ConfigurationKey(
        section: "retry", name: "delays", kind: .timeSpans(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)),
        standard: texts(["1s", "5s", "30s", "2m", "15m", "1h"]),
        comment: """
            The steps of the retry ladder, ascending: 1 to 16 lengths of time, each from "1ms" to
            "168h". Each step is a queue; after a change run 'apus topology apply'.
            """)
    static let retryAttemptsMaximum = ConfigurationKey(
        section: "retry", name: "max_attempts", kind: .integer(1...1_000), standard: .integer(10),
        comment: "How often one push is tried before it becomes a dead letter (1 to 1000).")
    static let retryAgeMaximum = ConfigurationKey(
        section: "retry", name: "max_age", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(720)),
        standard: .string("24h"),
        comment: """
            How long after its publishing an event's pushes are tried, before they become dead letters ("1s" to
            "720h"). Publishing is the AMQP property timestamp, else the time when Apus first saw it.
            """)
    static let retryServerErrorDelay = ConfigurationKey(
        section: "retry", name: "server_error_delay",
        kind: .timeSpan(TimeSpan(milliseconds: 1)...TimeSpan.hours(168)), standard: .string("15m"),
        comment: """
            After a 500 or 503 of APNs the first retry waits at least this long ("1ms" to "168h"), on
            the first step of the ladder that is long enough. Apple asks for 15 minutes.
            """)
    static let fanOutThreshold = ConfigurationKey(
        section: "fanout", name: "threshold_devices", kind: .integer(250...10_000_000), standard: .integer(1_000),
        comment: """
            An event that reaches more devices than this (250 to 10000000) is served in chunks by all
            workers; one that reaches fewer is served by the worker that gets it.
            """)
    static let fanOutChunk = ConfigurationKey(
        section: "fanout", name: "chunk_devices", kind: .integer(250...10_000), standard: .integer(2_000),
        comment: """
            The most devices in one chunk (250 to 10000). A worker serves one chunk of an app after the
            other, so a crash may repeat one and at most 500 devices of the next. It also bounds how many
            pushes of large fan-outs are out, and how long a worker that is told to stop has to go on.
            """)
    static let adminListen = ConfigurationKey(
        section: "admin", name: "listen", kind: .string, standard: .string("127.0.0.1:9464"),
        comment: "Where /livez, /readyz, /metrics and /version are served: HOST:PORT; \"\" for nowhere.")
    static let adminHosts = ConfigurationKey(
        section: "admin", name: "hosts", kind: .strings, standard: texts([]),
        comment: """
            The names by which the admin server is reached, for example by Prometheus, besides localhost,
            this machine's own and addresses in numbers; a request for another name is answered with 421.
            ["*"] for all names.
            """)
    static let logLevel = ConfigurationKey(
        section: "log", name: "level", kind: .choice(["debug", "info", "warning", "error"]), standard: .string("info"),
        comment: "What is logged to standard error: \"debug\", \"info\", \"warning\" or \"error\" and what is worse.")
    static let logFormat = ConfigurationKey(
        section: "log", name: "format", kind: .choice(["auto", "json", "text"]), standard: .string("auto"),
        comment: "\"json\", \"text\", or \"auto\": text on a terminal, else JSON.")
    static let workerDrainTimeout = ConfigurationKey(
        section: "worker", name: "drain_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(1)),
        standard: .string("30s"),
        comment: """
            How long a worker that is told to stop may take to finish what is in flight ("1s" to
            "1h"). The service manager's own limit has to be longer.
            """)
    static let workerPushTimeout = ConfigurationKey(
        section: "worker", name: "push_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.minutes(5)),
        standard: .string("20s"),
        comment: "How long APNs may take to answer one push, before it is sent again (\"1s\" to \"5m\").")
    static let workerDeclaresTopology = ConfigurationKey(
        section: "worker", name: "declare_topology", kind: .boolean, standard: .boolean(false),
        comment: """
            Whether a worker makes the exchanges and queues that are missing. If not, it says what is
            missing, and 'apus topology apply' makes it.
            """)
    static let appName = ConfigurationKey(
        section: "app", name: "name", kind: .string, standard: nil, example: .string("chat"),
        comment: "Required. How devices, events and metrics name the app: 1 to 64 letters, digits, '.', '-', '_'.")
    static let appBundleID = ConfigurationKey(
        section: "app", name: "bundle_id", kind: .string, standard: nil, example: .string("com.example.chat"),
        comment: "Required. The bundle identifier, which is the topic of the app's pushes.")
    static let appIdentityPools = ConfigurationKey(
        section: "app", name: "identity_pools", kind: .strings, standard: texts([]),
        example: texts(["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"]),
        comment: "The Cognito identity pools whose dataset changes belong to this app. Default: none.")
    static let appKeyFile = ConfigurationKey(
        section: "app.apns", name: "key_file", kind: .string, standard: nil, example: .string("AuthKey_ABC123DEFG.p8"),
        comment: """
            Required. The signing key from Apple's developer account, a PEM file (mode 600, please). A
            relative path begins at this file's folder.
            """)
    static let appKeyID = ConfigurationKey(
        section: "app.apns", name: "key_id", kind: .string, standard: nil, example: .string("ABC123DEFG"),
        comment: "Required. The key's identifier: ten capital letters and digits, also in the key file's name.")
    static let appTeamID = ConfigurationKey(
        section: "app.apns", name: "team_id", kind: .string, standard: nil, example: .string("DEF123GHIJ"),
        comment: "Required. The identifier of the team that the key belongs to: ten capital letters and digits.")
    static let appEndpoint = ConfigurationKey(
        section: "app.apns", name: "endpoint", kind: .string, standard: .string(""),
        comment: """
            HOST:PORT of another server for all of the app's pushes, for example a simulator; "" for
            Apple's own, production or sandbox as each device's platform says.
            """)
    static let appPort = ConfigurationKey(
        section: "app.apns", name: "port", kind: .integer(1...65_535), standard: .integer(443),
        comment: "The port of Apple's servers: 443, or 2197 where a firewall tells pushes apart by it.")
    static let appProxy = ConfigurationKey(
        section: "app.apns", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        comment: """
            An HTTP proxy to go through: http://USER:PASSWORD@HOST:PORT, or without USER:PASSWORD@;
            "" for none. Special characters are written as %XX. The proxy must allow CONNECT to the
            endpoint's port. A secret: rather give it as APUS_APP_0_APNS_PROXY, or name a file that
            holds it in APUS_APP_0_APNS_PROXY_FILE.
            """)
    static let appCAFile = ConfigurationKey(
        section: "app.apns", name: "ca_file", kind: .string, standard: .string(""),
        comment: "A PEM file with an extra trust anchor, for a simulator; \"\" for the system's own only.")
    static let appConnections = ConfigurationKey(
        section: "app.apns", name: "connections", kind: .integer(1...64), standard: .integer(2),
        comment: "How many connections a worker keeps to each of Apple's environments (1 to 64).")
    static let appConnectionsMaximum = ConfigurationKey(
        section: "app.apns", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        comment: """
            How many connections a worker opens to each of Apple's environments when pushes wait
            because streams or flow-control windows are exhausted (1 to 64, at least 'connections').
            They are closed again when fewer suffice.
            """)

    /// Every key, in the order of the sample.
    static let all = beforeQuotas + quotas + afterQuotas

    private static let beforeQuotas = [
        rabbitMQURL, rabbitMQCAFile, rabbitMQNamespace, rabbitMQPrefetch, rabbitMQWorkQueues, rabbitMQManagementURL,
        registryURL,
        registryListen, registryPublicURL, registryCertificateFile, registryKeyFile, registryIsInsecure,
        registryAccessKeys, registryAccessKeysFile, registryServerKeys, registryAllowedOrigins,
        registryRequestsPerSecond, registryHosts, registryConnectionsPerAddress, registryTrustedProxies,
    ]
    private static let afterQuotas = [
        retryDelays, retryAttemptsMaximum, retryAgeMaximum, retryServerErrorDelay, fanOutThreshold, fanOutChunk,
        adminListen, adminHosts, logLevel, logFormat,
        workerDrainTimeout, workerPushTimeout, workerDeclaresTopology, appName, appBundleID, appIdentityPools,
        appKeyFile, appKeyID, appTeamID, appEndpoint, appPort, appProxy, appCAFile, appConnections,
        appConnectionsMaximum,
    ]
}
