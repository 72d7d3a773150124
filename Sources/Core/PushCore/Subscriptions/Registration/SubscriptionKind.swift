/// What a subscription watches (CloudKit's `CKSubscription.SubscriptionType`).
public enum SubscriptionKind: String, CaseIterable, Hashable, Sendable {
    /// Records of one type that satisfy a predicate.
    case query
    /// Everything in one zone of a user's private database.
    case zone
    /// Everything in a user's private or shared database.
    case database

    /// CloudKit's number of it.
    public var cloudKitNumber: Int {
        switch self {
        case .query: 1
        case .zone: 2
        case .database: 3
        }
    }

    /// The kind with a number of CloudKit's, which is also what registries store; nil if there is none.
    public init?(cloudKitNumber: Int64) {
        guard let kind = Self.allCases.first(where: { $0.cloudKitNumber == cloudKitNumber }) else { return nil }
        self = kind
    }
}
