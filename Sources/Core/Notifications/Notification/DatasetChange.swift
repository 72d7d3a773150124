/// What happened to a Cognito dataset.
public struct DatasetChange: Hashable, Sendable {
    /// The ways in which a dataset changes.
    public enum Operation: Hashable, Sendable {
        /// Its records changed.
        case changed
        /// It was deleted.
        case deleted
        /// Datasets of this identity were merged into it; their names.
        case merged([String])
    }

    /// What happened.
    public var operation: Operation
    /// To which dataset.
    public var key: DatasetKey
    /// The dataset's count of changes after this one; always there for `changed`.
    public var syncCount: Int64?
    /// The device that made the change, which is not notified.
    public var deviceID: String?

    /// Creates a change.
    public init(operation: Operation, key: DatasetKey, syncCount: Int64?, deviceID: String?) {
        self.operation = operation
        self.key = key
        self.syncCount = syncCount
        self.deviceID = deviceID
    }
}
