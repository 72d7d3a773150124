import ApusClient
import Foundation

/// The store of a backend as Amazon Cognito Sync describes its own: each upload counts the dataset up by one.
actor SimulatedDatasetStore: RemoteDatasetStore {
    struct Failure: Error {}

    private struct Dataset {
        var syncCount: Int64 = 0
        var records: [String: RemoteRecord] = [:]
    }

    private var datasets: [DatasetName: Dataset] = [:]
    /// The datasets that were deleted, whether or not they are there again.
    private var deleted: Set<DatasetName> = []
    private var merged: [DatasetName: [String]] = [:]
    private var failures = 0
    private(set) var listed: [Int64] = []
    /// Called before the next upload is looked at: somebody else is faster.
    private var beforeUpload: (@Sendable (SimulatedDatasetStore) async -> Void)?

    func updates(of name: DatasetName, since syncCount: Int64) throws -> DatasetUpdates {
        listed.append(syncCount)
        if failures > 0 {
            failures -= 1
            throw Failure()
        }
        let dataset = datasets[name]
        let records = (dataset?.records ?? [:]).values.filter { $0.syncCount > syncCount }
        return DatasetUpdates(
            records: records.sorted { $0.key < $1.key }, syncCount: dataset?.syncCount ?? 0, exists: dataset != nil,
            isDeleted: syncCount > 0 && deleted.contains(name), mergedDatasetNames: merged[name] ?? [],
            sessionToken: "token")
    }

    func store(_ records: [LocalRecord], in name: DatasetName, sessionToken: String?) async throws -> UploadAnswer {
        if let hook = beforeUpload {
            beforeUpload = nil
            await hook(self)
        }
        guard sessionToken == "token" else { throw Failure() }
        return put(records, in: name)
    }

    @discardableResult
    func put(_ records: [LocalRecord], in name: DatasetName) -> UploadAnswer {
        var dataset = datasets[name] ?? Dataset()
        guard records.allSatisfy({ dataset.records[$0.key]?.syncCount ?? 0 == $0.syncCount }) else { return .conflict }
        dataset.syncCount += 1
        let stored = records.map {
            RemoteRecord(key: $0.key, value: $0.value, syncCount: dataset.syncCount, modifiedAt: $0.modifiedAt)
        }
        for record in stored { dataset.records[record.key] = record }
        datasets[name] = dataset
        return .stored(stored)
    }

    /// Another device changes a value.
    func set(_ value: String?, for key: String, in name: DatasetName, at date: Date = Date()) {
        let syncCount = datasets[name]?.records[key]?.syncCount ?? 0
        put([LocalRecord(key: key, value: value, syncCount: syncCount, isModified: true, modifiedAt: date)], in: name)
    }

    func values(of name: DatasetName) -> [String: String] {
        (datasets[name]?.records ?? [:]).compactMapValues(\.value)
    }

    func syncCount(of name: DatasetName) -> Int64 { datasets[name]?.syncCount ?? 0 }

    func delete(_ name: DatasetName) {
        datasets[name] = nil
        deleted.insert(name)
    }

    func merge(_ names: [String], into name: DatasetName) { merged[name] = names.isEmpty ? nil : names }

    func failNext(_ count: Int) { failures = count }

    func beforeNextUpload(_ hook: @escaping @Sendable (SimulatedDatasetStore) async -> Void) { beforeUpload = hook }
}

/// Callbacks that note what they were told, and answer what the test says.
actor NotedCallbacks: SyncCallbacks {
    enum Call: Hashable {
        case success([String])
        case conflict([String])
        case deleted
        case merged([String])
        case failure(SyncError)
    }

    private(set) var calls: [Call] = []
    private var answersYes = true
    private var resolve: @Sendable ([SyncConflict]) -> [LocalRecord]? = { $0.map { $0.resolvedWithLatest() } }
    private var onMerge: (@Sendable () async -> Void)?

    func answer(yes: Bool) { answersYes = yes }

    func resolve(_ body: @escaping @Sendable ([SyncConflict]) -> [LocalRecord]?) { resolve = body }

    func onMerge(_ body: @escaping @Sendable () async -> Void) { onMerge = body }

    func onSuccess(_ dataset: DatasetName, updatedRecords: [RemoteRecord]) {
        calls.append(.success(updatedRecords.map(\.key)))
    }

    func onConflict(_ dataset: DatasetName, conflicts: [SyncConflict]) -> [LocalRecord]? {
        calls.append(.conflict(conflicts.map(\.remote.key)))
        return resolve(conflicts)
    }

    func onDatasetDeleted(_ dataset: DatasetName) -> Bool {
        calls.append(.deleted)
        return answersYes
    }

    func onDatasetsMerged(_ dataset: DatasetName, mergedDatasetNames: [String]) async -> Bool {
        calls.append(.merged(mergedDatasetNames))
        await onMerge?()
        return answersYes
    }

    func onFailure(_ dataset: DatasetName, error: SyncError) { calls.append(.failure(error)) }
}

/// Counts that are not kept.
struct NoPersistence: SyncCountPersistence {
    func loadSyncCounts() -> SyncCounts? { nil }
    func saveSyncCounts(_ counts: SyncCounts) {}
}
