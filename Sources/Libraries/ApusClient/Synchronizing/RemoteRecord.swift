public import Foundation

/// A record as the remote store has it.
public struct RemoteRecord: Hashable, Sendable, Codable {
    /// The key.
    public let key: String
    /// The value; nil if the record was removed.
    public let value: String?
    /// The dataset's count of changes when the record was last changed.
    public let syncCount: Int64
    /// When it was last changed; nil if the store does not tell.
    public let modifiedAt: Date?

    /// Creates a record.
    public init(key: String, value: String?, syncCount: Int64, modifiedAt: Date? = nil) {
        self.key = key
        self.value = value
        self.syncCount = syncCount
        self.modifiedAt = modifiedAt
    }
}

/// A record as the device has it.
public struct LocalRecord: Hashable, Sendable, Codable {
    /// The key.
    public let key: String
    /// The value; nil if the record was removed, which the remote store has yet to learn.
    public let value: String?
    /// The count of the remote record that this one comes from; 0 if the remote store does not have it.
    public let syncCount: Int64
    /// Whether the user changed it, which the remote store has yet to learn.
    public let isModified: Bool
    /// When the user changed it.
    public let modifiedAt: Date?

    /// Creates a record.
    public init(key: String, value: String?, syncCount: Int64, isModified: Bool, modifiedAt: Date? = nil) {
        self.key = key
        self.value = value
        self.syncCount = syncCount
        self.isModified = isModified
        self.modifiedAt = modifiedAt
    }

    /// The record as the remote store has it.
    public init(_ record: RemoteRecord) {
        self.init(
            key: record.key, value: record.value, syncCount: record.syncCount, isModified: false,
            modifiedAt: record.modifiedAt)
    }
}

/// A record that was changed both here and elsewhere.
public struct SyncConflict: Hashable, Sendable {
    /// The record on the device.
    public let local: LocalRecord
    /// The record in the remote store.
    public let remote: RemoteRecord

    /// Creates a conflict of two records of the same key.
    public init(local: LocalRecord, remote: RemoteRecord) {
        self.local = local
        self.remote = remote
    }

    /// Lets what is here replace what is there.
    public func resolvedWithLocal() -> LocalRecord { resolved(with: local.value) }

    /// Lets what is there replace what is here.
    public func resolvedWithRemote() -> LocalRecord { LocalRecord(remote) }

    /// Lets the later change win; the remote one if a time is missing, or both are equal.
    public func resolvedWithLatest() -> LocalRecord {
        guard let here = local.modifiedAt, let there = remote.modifiedAt, here > there else {
            return resolvedWithRemote()
        }
        return resolvedWithLocal()
    }

    /// Lets a value replace both, for example a union; nil removes the record.
    public func resolved(with value: String?) -> LocalRecord {
        LocalRecord(
            key: remote.key, value: value, syncCount: remote.syncCount, isModified: value != remote.value,
            modifiedAt: local.modifiedAt)
    }
}

/// The changes of a dataset in the remote store.
public struct DatasetUpdates: Hashable, Sendable {
    /// The records that changed since the count that was asked for, removed ones included.
    public var records: [RemoteRecord]
    /// The dataset's count of changes now.
    public var syncCount: Int64
    /// Whether the dataset is there.
    public var exists: Bool
    /// Whether it was deleted since the count that was asked for, and perhaps created again.
    public var isDeleted: Bool
    /// The datasets of other identities that became the user's, and wait to be merged into this one.
    public var mergedDatasetNames: [String]
    /// The token that the store wants back with changes (Cognito's `SyncSessionToken`); nil for none.
    public var sessionToken: String?

    /// Creates updates.
    public init(
        records: [RemoteRecord], syncCount: Int64, exists: Bool = true, isDeleted: Bool = false,
        mergedDatasetNames: [String] = [], sessionToken: String? = nil
    ) {
        self.records = records
        self.syncCount = syncCount
        self.exists = exists
        self.isDeleted = isDeleted
        self.mergedDatasetNames = mergedDatasetNames
        self.sessionToken = sessionToken
    }
}
