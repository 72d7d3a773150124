public import Foundation

/// Copies of datasets in memory: for tests, and for apps whose datasets are small and may be fetched at each start.
public actor MemoryDatasetStore: LocalDatasetStore {
    private var datasets: [DatasetName: [String: LocalRecord]] = [:]

    /// Creates an empty store.
    public init() {}

    /// The values of a dataset, without removed ones.
    public func values(of dataset: DatasetName) -> [String: String] {
        (datasets[dataset] ?? [:]).compactMapValues(\.value)
    }

    /// The user changes or removes a value; the next synchronisation uploads it.
    ///
    /// - Parameters:
    ///   - value: the value; nil removes it.
    ///   - key: its key.
    ///   - dataset: the dataset.
    ///   - now: the time of the change.
    public func set(_ value: String?, for key: String, in dataset: DatasetName, at now: Date = Date()) {
        let syncCount = datasets[dataset]?[key]?.syncCount ?? 0
        // A removed record leaves a mark until the remote store knows, even if it is new: an upload may be under way.
        datasets[dataset, default: [:]][key] = LocalRecord(
            key: key, value: value, syncCount: syncCount, isModified: true, modifiedAt: now)
    }

    /// The records of these keys.
    public func records(_ keys: [String], of dataset: DatasetName) -> [LocalRecord] {
        guard let records = datasets[dataset] else { return [] }
        return keys.compactMap { records[$0] }
    }

    /// The records that the user changed or removed, in the order of their keys.
    public func modifiedRecords(of dataset: DatasetName) -> [LocalRecord] {
        (datasets[dataset] ?? [:]).values.filter(\.isModified).sorted { $0.key < $1.key }
    }

    /// Stores records, unless the user has changed them since.
    public func replace(_ replacements: [RecordReplacement], in dataset: DatasetName) {
        var records = datasets[dataset] ?? [:]
        for replacement in replacements {
            records[replacement.record.key] = replacement.applied(to: records[replacement.record.key])
        }
        datasets[dataset] = records
    }

    /// Removes the copy of a dataset.
    public func remove(_ dataset: DatasetName) { datasets[dataset] = nil }
}
