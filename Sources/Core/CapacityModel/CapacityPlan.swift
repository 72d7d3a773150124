/// The capacity that a load needs: each figure with the rule that it follows from.
///
/// All figures are numbers of floating point, so no load, however large, ends in a trap. Each grows with the load and
/// is never below what the rule says.
public struct CapacityPlan: Equatable, Sendable {
    /// A figure of the plan.
    public struct Figure: Equatable, Sendable {
        /// Its name for programs, for example `workers`.
        public var name: String
        /// Its name for people.
        public var title: String
        /// The figure.
        public var value: Double
        /// Its unit; empty for a number of things.
        public var unit: String
        /// How it follows, in words.
        public var rule: String
    }

    /// Processor time of a push on average, in microseconds.
    public let microsecondsPerPush: Double
    /// The figures, in the order in which they follow from each other.
    public let figures: [Figure]
    /// The limit that decides the number of workers, in words.
    public let limit: String
    /// The problems that the plan cannot solve by itself, with advice; empty if there are none.
    public let warnings: [String]

    /// Plans for a load.
    ///
    /// - Parameters:
    ///   - load: the load to carry.
    ///   - coefficients: the costs of the load.
    public init(for load: CapacityLoad, coefficients: CapacityCoefficients = CapacityCoefficients()) {
        let rules = CapacityRules(load: load.inRange, coefficients: coefficients)
        microsecondsPerPush = rules.microsecondsPerPush
        figures = rules.figures
        limit = rules.limit
        warnings = rules.warnings
    }

    /// The figure of a name; 0 if there is none.
    public subscript(_ name: String) -> Double { figures.first { $0.name == name }?.value ?? 0 }
}
