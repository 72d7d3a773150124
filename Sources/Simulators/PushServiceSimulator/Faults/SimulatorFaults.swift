/// Faults that a simulator is to have: JSON objects, one a line, as `apus simulate --help` lists them.
public struct SimulatorFaults: Sendable {
    let rules: [FaultRule]

    /// A simulator that behaves.
    public static let none = SimulatorFaults(rules: [])

    private init(rules: [FaultRule]) { self.rules = rules }

    /// Reads faults.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - syntax: how the service writes tokens, triggers and answers.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8], as syntax: FaultSyntax) throws(SimulatorError) {
        rules = try FaultRule.parse(lines: bytes, as: syntax)
    }
}

/// The parts of a fault's line that each push service defines.
public struct FaultSyntax: Sendable {
    /// When a fault of a request is decided about.
    public enum Trigger: Hashable, Sendable {
        /// A push has come.
        case request
        /// The answer to a push is a refusal.
        case rejection
        /// A request for an access token has come.
        case authorization
    }

    /// The words of `on`.
    let triggers: [String: Trigger]
    /// Whether the case of `token` does not matter, as in hexadecimal digits.
    let lowercasesTokens: Bool
    /// The answer with a reason, given `status` and `timestamp` as far as the line has them; nil for an unknown reason.
    let answer: @Sendable (_ status: Int?, _ reason: String, _ timestamp: Int64?) -> ServiceAnswer?

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - furtherTriggers: words of `on` beside `request` and `rejection`.
    ///   - lowercasesTokens: whether the case of `token` does not matter.
    ///   - answer: makes the answer with a reason, from `status`, `reason` and `timestamp`; nil for an unknown reason.
    public init(
        furtherTriggers: [String: Trigger] = [:], lowercasesTokens: Bool,
        answer: @escaping @Sendable (_ status: Int?, _ reason: String, _ timestamp: Int64?) -> ServiceAnswer?
    ) {
        triggers = furtherTriggers.merging(["request": .request, "rejection": .rejection]) { own, _ in own }
        self.lowercasesTokens = lowercasesTokens
        self.answer = answer
    }
}
