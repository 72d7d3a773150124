/// How the broker's object compares with the one that Apus needs.
public struct TopologyFinding: Hashable, Sendable {
    /// The results of a comparison.
    public enum Status: Hashable, Sendable {
        /// It is there as it should be.
        case present
        /// It was not there and has been made.
        case created
        /// It is not there.
        case missing
        /// It is there, and something of it is not as it should be.
        case different(argument: String, actual: String, wanted: String)
        /// The broker would not say.
        case unknown(String)
    }

    /// What was compared.
    public let object: TopologyObject
    /// How it compares.
    public let status: Status

    /// Whether nothing is left to do.
    public var isGood: Bool { status == .present || status == .created }

    /// One line: the object, what is there and what is wanted.
    public var description: String {
        let subject = "\(object.kind.rawValue) \(object.name)"
        return switch status {
        case .present: "\(subject): present"
        case .created: "\(subject): created"
        case .missing: "\(subject): missing; run `apus topology apply`"
        case .different(let argument, let actual, let wanted):
            "\(subject): \(argument) is \(actual), wanted \(wanted); an existing object cannot be changed: drain it, "
                + "delete it and run `apus topology apply`"
        case .unknown(let text): "\(subject): \(text)"
        }
    }
}
