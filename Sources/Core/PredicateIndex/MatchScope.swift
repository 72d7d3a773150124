/// Which records a subscription is about, before its predicate is asked.
public struct MatchScope: Hashable, Sendable {
    /// The app that the subscription belongs to; nil for any.
    public var application: String?
    /// The type of the records; nil for any, as in subscriptions to a zone or a database.
    public var recordType: String?

    /// Creates a scope.
    public init(application: String?, recordType: String?) {
        self.application = application
        self.recordType = recordType
    }
}
