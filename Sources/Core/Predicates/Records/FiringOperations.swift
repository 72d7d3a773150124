/// Which changes of a record a subscription matches, with CloudKit's values (`CKQuerySubscription.Options`).
public struct FiringOperations: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A record was created.
    public static let created = FiringOperations(rawValue: 1)
    /// A record was updated.
    public static let updated = FiringOperations(rawValue: 2)
    /// A record was deleted.
    public static let deleted = FiringOperations(rawValue: 4)
    /// Every change.
    public static let all: FiringOperations = [.created, .updated, .deleted]
}
