/// Synchronises datasets when a push, or the app, says so: each dataset once at a time.
///
/// It is the client of Amazon Cognito Sync in small. The app implements `RemoteDatasetStore`, `LocalDatasetStore` and
/// `SyncCallbacks`; the order of what is asked and stored is here.
public actor DatasetSynchronizer {
    private let remote: any RemoteDatasetStore
    private let local: any LocalDatasetStore
    private let counts: SyncCountStore
    private let callbacks: any SyncCallbacks
    /// The synchronisations that run.
    private var running: [DatasetName: Task<Bool, Never>] = [:]
    /// The synchronisations that begin after the running ones, for all calls in between.
    private var waiting: [DatasetName: Task<Bool, Never>] = [:]

    /// Creates a synchroniser.
    ///
    /// - Parameters:
    ///   - remote: the backend's store.
    ///   - local: the copy on the device.
    ///   - counts: the counts up to which datasets are synchronised.
    ///   - callbacks: the app's.
    public init(
        remote: any RemoteDatasetStore, local: any LocalDatasetStore, counts: SyncCountStore,
        callbacks: any SyncCallbacks
    ) {
        self.remote = remote
        self.local = local
        self.counts = counts
        self.callbacks = callbacks
    }

    /// Synchronises the dataset that a push is about; an old push does nothing.
    ///
    /// - Parameter event: the event of the push.
    /// - Returns: whether the dataset was synchronised; nil if there was nothing to do. An app tells the system this in
    ///   `didReceiveRemoteNotification` (new data, failed, no data).
    @discardableResult
    public func handle(_ event: PushEvent) async -> Bool? {
        do {
            guard let dataset = try await counts.datasetToSynchronize(after: event) else { return nil }
            return await synchronize(dataset)
        } catch {
            guard let dataset = event.dataset else { return nil }
            await callbacks.onFailure(dataset, error: .storeFailed("\(error)"))
            return false
        }
    }

    /// Synchronises a dataset: also when the app starts, and after the user changed something.
    ///
    /// While the dataset is being synchronised, one more synchronisation is enough for all who ask meanwhile.
    ///
    /// - Parameter dataset: the dataset.
    /// - Returns: whether it was synchronised; the callbacks have been told.
    @discardableResult
    public func synchronize(_ dataset: DatasetName) async -> Bool {
        if let next = waiting[dataset] { return await next.value }
        let previous = running[dataset]
        let task = Task {
            _ = await previous?.value
            return await self.begin(dataset, hasWaited: previous != nil)
        }
        if previous == nil { running[dataset] = task } else { waiting[dataset] = task }
        return await task.value
    }

    private func begin(_ dataset: DatasetName, hasWaited: Bool) async -> Bool {
        if hasWaited { running[dataset] = waiting.removeValue(forKey: dataset) }
        let succeeded = await run(dataset)
        // The one that waits takes the place itself.
        if waiting[dataset] == nil { running[dataset] = nil }
        return succeeded
    }

    private func run(_ dataset: DatasetName) async -> Bool {
        do {
            var machine = SynchronizationStateMachine(knownSyncCount: try await counts.syncCount(of: dataset))
            var action = machine.start()
            while true {
                switch action {
                case .succeed(let records):
                    await callbacks.onSuccess(dataset, updatedRecords: records)
                    return true
                case .fail(let error):
                    await callbacks.onFailure(dataset, error: error)
                    return false
                default: action = try await perform(action, &machine, dataset)
                }
            }
        } catch {
            await callbacks.onFailure(dataset, error: .storeFailed("\(error)"))
            return false
        }
    }

    private func perform(
        _ action: SynchronizationStateMachine.Action, _ machine: inout SynchronizationStateMachine,
        _ dataset: DatasetName
    ) async throws -> SynchronizationStateMachine.Action {
        switch action {
        case .listUpdates(let since): return machine.updatesListed(try await remote.updates(of: dataset, since: since))
        case .askAboutMerge(let names):
            return machine.mergeAnswered(
                goOn: await callbacks.onDatasetsMerged(dataset, mergedDatasetNames: names))
        case .askAboutDeletion: return machine.deletionAnswered(remove: await callbacks.onDatasetDeleted(dataset))
        case .removeLocalCopy:
            try await local.remove(dataset)
            try await counts.forget(dataset)
            return machine.localCopyRemoved()
        case .loadRecords(let keys): return machine.recordsLoaded(try await local.records(keys, of: dataset))
        case .askAboutConflicts(let conflicts):
            return machine.conflictsAnswered(await callbacks.onConflict(dataset, conflicts: conflicts))
        case .replace(let replacements, let syncCount):
            // Records first: if the app ends in between, they are only listed once more.
            try await local.replace(replacements, in: dataset)
            if let syncCount { try await counts.synchronized(dataset, to: syncCount) }
            return machine.replaced()
        case .loadModifiedRecords: return machine.modifiedRecordsLoaded(try await local.modifiedRecords(of: dataset))
        case .upload(let records, let sessionToken):
            return machine.uploaded(try await remote.store(records, in: dataset, sessionToken: sessionToken))
        case .succeed, .fail: return action
        }
    }
}
