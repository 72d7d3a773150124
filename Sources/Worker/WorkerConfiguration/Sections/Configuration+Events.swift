import TOML

extension Configuration {
    /// How long events are remembered, so that each is pushed once: `[events]`.
    public struct Events: Hashable, Sendable {
        /// How long, 0 to 31 days; 0 for not at all.
        public var remember: TimeSpan
        /// How many events the registry remembers.
        public var rememberMaximum: Int
    }
}

extension ConfigurationKey {
    static let eventsRemember = ConfigurationKey(
        section: "events", name: "remember", kind: .timeSpan(TimeSpan.seconds(0)...TimeSpan.hours(744)),
        standard: .string("24h"), summary: "How long an event that comes again is not pushed again; 0s: it always is.",
        details: """
            Applies to events over HTTP with a key or an id, of a relay, and over AMQP with the header x-remember. \
            See deploy/publishing.md.
            """)
    static let eventsRememberMaximum = ConfigurationKey(
        section: "events", name: "remember_maximum", kind: .integer(100_000...1_000_000_000),
        standard: .integer(10_000_000), summary: "Most events that the registry remembers.",
        details: """
            Beyond it the oldest go first, and apus_events_forgotten_total counts them. Each takes 20 bytes of the \
            registry, and 11 to 21 of each worker's memory.
            """)

    /// The keys of `[events]`.
    static let events = [eventsRemember, eventsRememberMaximum]
}

extension ConfigurationReader {
    /// Reads `[events]`.
    mutating func readEvents() -> Configuration.Events {
        Configuration.Events(remember: timeSpan(.eventsRemember), rememberMaximum: integer(.eventsRememberMaximum))
    }
}
