import TOML

extension Configuration {
    /// The outbox that `apus relay` empties: `[relay]`.
    public struct Relay: Hashable, Sendable {
        /// Where the outbox is; empty for none.
        public var url: Secret
        /// The most rows of one transaction, 1 to 5 000.
        public var batchMaximum: Int
        /// Whether each worker is a relay, too.
        public var isInWorker: Bool

        /// Whether there is an outbox.
        public var isConfigured: Bool { !url.revealed.isEmpty }
    }
}

extension ConfigurationKey {
    static let relayURL = ConfigurationKey(
        section: "relay", name: "url", kind: .string, standard: .string(""), isSecret: true,
        summary: "The backend's PostgreSQL database with the outbox; \"\" is none.",
        details: """
            postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full. 'apus relay sql' makes the outbox. See \
            deploy/relay.md.
            """)
    static let relayBatch = ConfigurationKey(
        section: "relay", name: "batch", kind: .integer(1...5_000), standard: .integer(500),
        summary: "Most rows of one transaction.")

    static let relayInWorker = ConfigurationKey(
        section: "relay", name: "in_worker", kind: .boolean, standard: .boolean(false),
        summary: "Whether 'apus run' is a relay, too.")

    /// The keys of `[relay]`.
    static let relay = [relayURL, relayBatch, relayInWorker]
}

extension ConfigurationReader {
    /// Reads `[relay]`.
    mutating func readRelay() -> Configuration.Relay {
        let url = text(.relayURL)
        if !url.isEmpty { checkPostgresURL(url, of: .relayURL) }
        let relay = Configuration.Relay(
            url: Secret(url), batchMaximum: integer(.relayBatch), isInWorker: boolean(.relayInWorker))
        if relay.isInWorker && !relay.isConfigured {
            fail(.relayInWorker, "there is no outbox", "set relay.url, or remove in_worker")
        }
        return relay
    }
}
