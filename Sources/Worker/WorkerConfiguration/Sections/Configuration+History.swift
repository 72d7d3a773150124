import TOML

extension Configuration {
    /// How long the registry keeps what became of each event: a part of `[events]`.
    public struct History: Hashable, Sendable {
        /// How long, 0 to 31 days; 0 for not at all.
        public var retention: TimeSpan
        /// How many outcomes the registry keeps.
        public var outcomesMaximum: Int

        /// Whether outcomes are kept.
        public var isKept: Bool { retention.milliseconds > 0 }
    }
}

extension ConfigurationKey {
    static let eventsHistory = ConfigurationKey(
        section: "events", name: "history", kind: .timeSpan(TimeSpan.seconds(0)...TimeSpan.hours(744)),
        standard: .string("0s"), summary: "How long the registry keeps what became of each event; 0s: it does not.",
        details: """
            'apus explain', 'apus publish --wait' and GET /v1/events/{id} read it. A large fan-out is told of \
            as a whole. See deploy/outcomes.md.
            """)
    static let eventsHistoryMaximum = ConfigurationKey(
        section: "events", name: "history_maximum", kind: .integer(1_000...1_000_000_000),
        standard: .integer(1_000_000), summary: "Most outcomes that the registry keeps.",
        details: "Beyond it the oldest go first. A million takes about 1 GB.")

    /// The keys of `[events]` about the history.
    static let history = [eventsHistory, eventsHistoryMaximum]
}

extension ConfigurationReader {
    /// Reads the keys of `[events]` about the history.
    mutating func readHistory() -> Configuration.History {
        Configuration.History(
            retention: timeSpan(.eventsHistory), outcomesMaximum: integer(.eventsHistoryMaximum))
    }
}
