import TOML

extension Configuration {
    /// The broker and how to use it: `[rabbitmq]`.
    public struct RabbitMQ: Hashable, Sendable {
        /// The brokers of one cluster, tried in turn: `amqp://` or `amqps://`; at least one.
        public var urls: [Secret]
        /// A PEM file with an extra trust anchor for `amqps://`, or nil.
        public var caFile: String?
        /// The prefix of the names of all exchanges and queues; 1 to 64 letters, digits, `-`, `_`.
        public var namespace: String
        /// How many unacknowledged messages one worker may hold, 1 to 65535.
        public var prefetch: Int
        /// Over how many work queues the events are spread, 1 to 64.
        public var workQueueCount: Int
        /// RabbitMQ's management API, `http://` or `https://`, or nil.
        public var managementURL: Secret?
    }
}

extension ConfigurationKey {
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

    /// The keys of `[rabbitmq]`.
    static let rabbitMQ = [
        rabbitMQURL, rabbitMQCAFile, rabbitMQNamespace, rabbitMQPrefetch, rabbitMQWorkQueues, rabbitMQManagementURL,
    ]
}

extension ConfigurationReader {
    /// Reads `[rabbitmq]`.
    mutating func readRabbitMQ() -> Configuration.RabbitMQ {
        let caFile = readCertificateFile(.rabbitMQCAFile)
        let namespace = text(.rabbitMQNamespace)
        if !Self.isName(namespace, allowing: "-_") {
            fail(
                .rabbitMQNamespace, "\(namespace.quoted) is invalid",
                "give 1 to 64 letters, digits, '-', '_'")
        }
        let prefetch = integer(.rabbitMQPrefetch)
        if prefetch < 100 {
            warn(
                .rabbitMQPrefetch, "\(prefetch) is low", "below 100 a worker mostly waits for the broker")
        }
        let workQueueCount = integer(.rabbitMQWorkQueues)
        if prefetch < workQueueCount {
            fail(
                .rabbitMQWorkQueues, "\(workQueueCount) queues cannot share a prefetch of \(prefetch)",
                "set rabbitmq.prefetch to \(workQueueCount) or more")
        }
        return Configuration.RabbitMQ(
            urls: readBrokerURLs(), caFile: caFile, namespace: namespace, prefetch: prefetch,
            workQueueCount: workQueueCount, managementURL: readManagementURL())
    }

    private mutating func readManagementURL() -> Secret? {
        let url = text(.rabbitMQManagementURL)
        guard !url.isEmpty else { return nil }
        let hasScheme = url.hasPrefix("http://") || url.hasPrefix("https://")
        if !hasScheme || url.hasSuffix("://") || url.contains("?") || url.contains("#") {
            fail(
                .rabbitMQManagementURL, "the URL is not one of RabbitMQ's management API",
                "write http://HOST:15672 or https://HOST:15671, without a query")
        }
        return Secret(url)
    }

    private mutating func readBrokerURLs() -> [Secret] {
        let urls = texts(.rabbitMQURL)
        let shape = "write amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://…"
        if urls.isEmpty { fail(.rabbitMQURL, "there is no broker", shape) }
        var usesGuest = false
        var holdsSecret = false
        for (index, text) in urls.enumerated() {
            do {
                let url = try BrokerURL(text)
                usesGuest = usesGuest || url.user == "guest"
                holdsSecret = holdsSecret || url.holdsSecret
            } catch {
                fail(.rabbitMQURL, (urls.count > 1 ? "URL \(index + 1): " : "") + error.message, shape)
            }
        }
        if usesGuest {
            warn(
                .rabbitMQURL, "the user is guest, RabbitMQ's built-in administrator, who may only log in locally",
                "create a separate user for production")
        }
        if holdsSecret, case .file(let path, _) = origin(of: .rabbitMQURL), ConfigurationFile.isReadableByOthers(path) {
            warn(
                .rabbitMQURL, "the file holds a password, and other users can read it",
                "run 'chmod 600 \(path)', or use APUS_RABBITMQ_URL_FILE")
        }
        return urls.map { Secret($0) }
    }
}
