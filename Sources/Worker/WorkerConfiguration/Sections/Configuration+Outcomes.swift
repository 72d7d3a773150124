import Notifications
import TOML

extension Configuration {
    /// How backends are told what became of pushes: `[outcomes]`.
    public struct Outcomes: Hashable, Sendable {
        /// How long outcomes that RabbitMQ refuses are published again before they are dropped, 0 to 300 s.
        public var patience: TimeSpan
    }
}

extension ConfigurationKey {
    static let appOutcomes = ConfigurationKey(
        section: "app", name: "outcomes", kind: .strings, standard: texts([]),
        summary: "What the backend hears of its pushes.",
        details: "Any of \(OutcomeKind.listing); or \"all\". See deploy/outcomes.md.")

    static let outcomesPatience = ConfigurationKey(
        section: "outcomes", name: "patience", kind: .timeSpan(TimeSpan(milliseconds: 0)...TimeSpan.seconds(300)),
        standard: .string("10s"),
        summary: "How long outcomes that RabbitMQ refuses are published again.",
        details: "Their events wait meanwhile. See deploy/outcomes.md.")

    /// The keys of `[outcomes]`.
    static let outcomes = [outcomesPatience]
}

extension ConfigurationReader {
    /// Reads `[outcomes]`.
    mutating func readOutcomes() -> Configuration.Outcomes {
        Configuration.Outcomes(patience: timeSpan(.outcomesPatience))
    }

    /// Reads what the app's backend wants to hear of its pushes.
    mutating func readOutcomes(app index: Int) -> OutcomeSelection {
        var selection: OutcomeSelection = []
        for word in texts(.appOutcomes, app: index) {
            if let kind = OutcomeKind(rawValue: word) {
                selection.formUnion(kind.selection)
            } else if word == "all" {
                selection = .all
            } else {
                fail(
                    .appOutcomes, app: index, "\(word.quoted) is no outcome",
                    "give any of \(OutcomeKind.listing), or \"all\"")
            }
        }
        return selection
    }
}
