/// An `apus.toml` for workers and commands, between a broker and simulators of push services.
///
/// The admin server takes a free port, which the log says, and the log is JSON.
public struct TestConfiguration: Sendable {
    /// An app of the configuration.
    public struct App: Sendable {
        /// The name.
        public var name = "chat"
        /// Its topic.
        public var bundleID = "com.example.chat"
        /// Its identity pools.
        public var pools = [TestEvents.pool]
        /// The outcomes that its backend wants to receive.
        public var outcomes: [String] = []
        /// Where APNs is, as HOST:PORT; nil if the app has no devices of Apple.
        public var endpoint: String?
        /// The file with the certificate of the push service.
        public var anchor = "anchor.pem"
        /// More lines of its section `apns`.
        public var more = ""
        /// The sections of its other push services.
        public var sections = ""

        /// An app called `chat`.
        ///
        /// - Parameter endpoint: where APNs is, as HOST:PORT; nil if it has no devices of Apple.
        public init(endpoint: String?) { self.endpoint = endpoint }

        fileprivate var text: String {
            """
            [[app]]
            name = "\(name)"
            bundle_id = "\(bundleID)"
            \(pools.isEmpty ? "" : "identity_pools = [\(pools.map { "\"\($0)\"" }.joined(separator: ", "))]")
            \(outcomes.isEmpty ? "" : "outcomes = [\(outcomes.map { "\"\($0)\"" }.joined(separator: ", "))]")
            \(endpoint.map(apns) ?? "")
            \(sections)
            """
        }

        private func apns(_ endpoint: String) -> String {
            """
            [app.apns]
            key_file = "key.p8"
            key_id = "\(SimulatorProcess.keyID)"
            team_id = "\(SimulatorProcess.teamID)"
            endpoint = "\(endpoint)"
            ca_file = "\(anchor)"
            \(more)
            """
        }
    }

    /// The addresses of the broker's nodes.
    public var brokerURLs: [String]
    /// More lines of the section `rabbitmq`.
    public var broker = ""
    /// Where the registry is; nil for the file that `apus` takes by itself.
    public var registryURL: String?
    /// The lines of the section `retry`; empty for a worker's defaults.
    public var retry = Self.shortLadder
    /// More sections, before the apps.
    public var sections = ""
    /// The apps.
    public var apps: [App]

    /// A ladder of retries that is climbed within seconds.
    public static let shortLadder = """
        delays = ["200ms", "500ms", "1s"]
        server_error_delay = "200ms"
        """

    /// A configuration with a short ladder of retries.
    ///
    /// - Parameters:
    ///   - brokerURLs: the addresses of the broker's nodes.
    ///   - apps: the apps.
    public init(brokerURLs: [String], apps: [App]) {
        self.brokerURLs = brokerURLs
        self.apps = apps
    }

    /// The file.
    public var text: String {
        let urls = brokerURLs.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            [rabbitmq]
            url = [\(urls)]
            \(broker)
            \(registryURL.map { "[registry]\nurl = \"\($0)\"" } ?? "")
            \(retry.isEmpty ? "" : "[retry]\n\(retry)")
            [admin]
            listen = "127.0.0.1:0"
            [log]
            format = "json"
            \(sections)
            \(apps.map(\.text).joined(separator: "\n"))
            """
    }
}
