import Notifications
import TOML

extension Configuration {
    /// How backends are told what became of pushes: `[outcomes]`.
    public struct Outcomes: Hashable, Sendable {
        /// How long outcomes that RabbitMQ refuses are published again before they are dropped, 0 to 300 s.
        ///
        /// `outcomes.patience`, default `10s`.
        public var patience: TimeSpan
    }
}

extension ConfigurationKey {
    static let appOutcomes = ConfigurationKey(
        section: "app", name: "outcomes", kind: .strings, standard: texts([]),
        summary: "What the app's backend wants to hear of its pushes.",
        details: """
            Any of \(OutcomeKind.listing); or "all". Each is published to the exchange NAMESPACE.outcomes before the \
            event is acknowledged. See deploy/outcomes.md.
            """)

    static let outcomesPatience = ConfigurationKey(
        section: "outcomes", name: "patience", kind: .timeSpan(TimeSpan(milliseconds: 0)...TimeSpan.seconds(300)),
        standard: .string("10s"),
        summary: "How long outcomes that RabbitMQ refuses are published again.",
        details: """
            Meanwhile their events wait. After that, refused outcomes are dropped and counted, until none was refused \
            for as long again: a full queue of a backend must not stop the pushes.
            """)

    /// The keys of `[outcomes]`.
    static let outcomes = [outcomesPatience]
}
