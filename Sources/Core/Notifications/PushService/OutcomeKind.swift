/// The outcome of a push, as reported to backends.
///
/// All but `retrying` are final: a push that waits for a retry is told of again when that has ended.
public enum OutcomeKind: String, CaseIterable, Sendable {
    /// The push service accepted it.
    case accepted
    /// Its token is dead, and is removed from the registry.
    case tokenDead = "token-dead"
    /// Its push service calls its token dead, and the registry does not have it, or had it registered again meanwhile.
    case rejected
    /// Its time had passed before it could be sent.
    case expired
    /// It was left out, because a newer event of the same dataset said the same.
    case coalesced
    /// It waits in a retry queue.
    case retrying
    /// It is among the dead letters and needs a person.
    case deadLettered = "dead-lettered"
    /// There was no device for it.
    case unmatched

    /// For messages: all of them, in a sentence.
    public static let listing = allCases.map(\.rawValue).joined(separator: ", ")

    /// The set that holds it alone.
    public var selection: OutcomeSelection {
        switch self {
        case .accepted: .accepted
        case .tokenDead: .tokenDead
        case .rejected: .rejected
        case .expired: .expired
        case .coalesced: .coalesced
        case .retrying: .retrying
        case .deadLettered: .deadLettered
        case .unmatched: .unmatched
        }
    }
}

/// The outcomes that the backend of an app wants to hear of.
public struct OutcomeSelection: OptionSet, Hashable, Sendable {
    /// A bit for each kind.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the set of some kinds.
    public init(_ kinds: some Sequence<OutcomeKind>) {
        self = kinds.reduce(into: []) { $0.formUnion($1.selection) }
    }

    /// Every kind.
    public static let all = OutcomeSelection(OutcomeKind.allCases)
    /// `OutcomeKind.accepted`.
    public static let accepted = OutcomeSelection(rawValue: 1 << 0)
    /// `OutcomeKind.tokenDead`.
    public static let tokenDead = OutcomeSelection(rawValue: 1 << 1)
    /// `OutcomeKind.expired`.
    public static let expired = OutcomeSelection(rawValue: 1 << 2)
    /// `OutcomeKind.coalesced`.
    public static let coalesced = OutcomeSelection(rawValue: 1 << 3)
    /// `OutcomeKind.retrying`.
    public static let retrying = OutcomeSelection(rawValue: 1 << 4)
    /// `OutcomeKind.deadLettered`.
    public static let deadLettered = OutcomeSelection(rawValue: 1 << 5)
    /// `OutcomeKind.rejected`.
    public static let rejected = OutcomeSelection(rawValue: 1 << 6)
    /// `OutcomeKind.unmatched`.
    public static let unmatched = OutcomeSelection(rawValue: 1 << 7)
}
