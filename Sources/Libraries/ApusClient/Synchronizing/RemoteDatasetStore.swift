/// The answer of a remote store to changes.
public enum UploadAnswer: Hashable, Sendable {
    /// All of them are stored: the records as they are there now.
    case stored([RemoteRecord])
    /// None is stored, because somebody else changed one of the records first (Cognito's `ResourceConflictException`).
    case conflict
}

/// The store of the backend, which the app implements: Amazon Cognito Sync, or anything that counts changes like it.
public protocol RemoteDatasetStore: Sendable {
    /// Asks what changed (Cognito's `ListRecords`, all of its pages).
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - syncCount: the count up to which the device has the changes; 0 asks for all records.
    /// - Returns: the changes.
    /// - Throws: any error; the synchronisation fails with it.
    func updates(of dataset: DatasetName, since syncCount: Int64) async throws -> DatasetUpdates

    /// Stores changes, all or none (Cognito's `UpdateRecords`).
    ///
    /// - Parameters:
    ///   - records: modified records. One is stored only if the remote record still has its `syncCount`.
    ///   - dataset: the dataset, which is created if it is not there.
    ///   - sessionToken: that of the updates before.
    /// - Returns: whether they are stored.
    /// - Throws: any error; the synchronisation fails with it.
    func store(
        _ records: [LocalRecord], in dataset: DatasetName, sessionToken: String?
    ) async throws -> UploadAnswer
}

/// The copy on the device, which the app implements on its database; `MemoryDatasetStore` is one in memory.
///
/// The user may change records while a synchronisation runs. So the synchronisation names the records that it has seen,
/// and a record that has changed since keeps the user's value.
public protocol LocalDatasetStore: Sendable {
    /// The records of these keys, those that the user removed included.
    func records(_ keys: [String], of dataset: DatasetName) async throws -> [LocalRecord]

    /// The records that the user changed or removed, and the remote store has yet to learn of.
    func modifiedRecords(of dataset: DatasetName) async throws -> [LocalRecord]

    /// Stores what came from the remote store, and resolved conflicts.
    ///
    /// - Parameters:
    ///   - replacements: the records; `RecordReplacement.applied(to:)` says what becomes of each.
    ///   - dataset: the dataset.
    /// - Throws: any error, if none is stored; the synchronisation fails with it.
    func replace(_ replacements: [RecordReplacement], in dataset: DatasetName) async throws

    /// Removes the copy of a dataset.
    func remove(_ dataset: DatasetName) async throws
}

/// A record to be stored on the device.
public struct RecordReplacement: Hashable, Sendable {
    /// The record that was seen; nil if there was none.
    public let seen: LocalRecord?
    /// The record that replaces it.
    public let record: LocalRecord
    /// Whether the remote store has stored what was seen, so that a later change of the user comes after that.
    public let isAnswer: Bool

    /// Creates a replacement.
    public init(seen: LocalRecord?, record: LocalRecord, isAnswer: Bool) {
        self.seen = seen
        self.record = record
        self.isAnswer = isAnswer
    }

    /// Returns the record to store in place of the present one.
    ///
    /// - Parameter current: the record of that key; nil if there is none.
    /// - Returns: the record to store; nil removes it.
    public func applied(to current: LocalRecord?) -> LocalRecord? {
        guard current != seen else { return record.value == nil && !record.isModified ? nil : record }
        guard isAnswer else { return current }
        guard let current else { return nil }
        return LocalRecord(
            key: current.key, value: current.value, syncCount: record.syncCount, isModified: current.isModified,
            modifiedAt: current.modifiedAt)
    }
}
