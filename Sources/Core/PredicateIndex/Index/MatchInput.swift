public import Predicates

/// A change of a record, as subscriptions are matched against it.
public struct MatchInput: Hashable, Sendable {
    /// The app whose subscriptions are asked; nil for those of all apps.
    public var application: String?
    /// The type of the record; nil if it has none, so that only subscriptions to any type are asked.
    public var recordType: String?
    /// The change of the record: a subscription matches if it fires on any of these operations.
    public var operations: FiringOperations
    /// The record: after the change, or before its deletion.
    public var fields: RecordFields

    /// Creates an input.
    public init(application: String?, recordType: String?, operations: FiringOperations, fields: RecordFields) {
        self.application = application
        self.recordType = recordType
        self.operations = operations
        self.fields = fields
    }
}

/// How matching one change went.
///
/// A search that reaches its limit reports no row at all: part of the subscribers is no answer. Match the change again
/// with a larger limit, where it delays nothing else.
public struct MatchOutcome: Hashable, Sendable {
    /// Whether all subscriptions were found; if not, none is reported.
    public var isComplete: Bool
    /// The work that was done: probes, candidates, tests of candidates and, for tests that read texts, each 64 bytes.
    public var steps: Int
}

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
