public import Predicates

/// A change of a record, as subscriptions are matched against it.
public struct MatchInput: Hashable, Sendable {
    /// The app whose subscriptions are asked; nil for those of all apps.
    public var application: String?
    /// The type of the record; nil if it has none, so that only subscriptions to any type are asked.
    public var recordType: String?
    /// What happened to the record: a subscription that fires on any of these is asked.
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
