/// One synchronisation of one dataset: lists what changed, asks the app, stores, uploads.
///
/// The steps are those of Amazon's client for Android (`DefaultDataset.synchronizeInternal`), with three differences. A
/// dataset that was deleted and created again is fetched whole at once. A modified record stays as it is if the remote
/// one is no newer than what it comes from. After a refused upload, everything since the oldest of its records is
/// listed again.
///
/// Each method says what has happened, and returns what to do next; it knows no time and no store.
struct SynchronizationStateMachine {
    /// An action for the shell, which then calls the method of the same name in the past tense.
    enum Action: Hashable {
        case listUpdates(since: Int64)
        case askAboutMerge([String])
        case askAboutDeletion
        case removeLocalCopy
        case loadRecords([String])
        case askAboutConflicts([SyncConflict])
        /// Store records, then the count; nil leaves it.
        case replace([RecordReplacement], syncCount: Int64?)
        case loadModifiedRecords
        case upload([LocalRecord], sessionToken: String?)
        case succeed([RemoteRecord])
        case fail(SyncError)
    }

    /// How often changes are listed at most: once, and three times again (Amazon's `MAX_RETRY`).
    static let attemptsMaximum = 4

    private let knownSyncCount: Int64?
    private var attempts = 0
    private var updates = DatasetUpdates(records: [], syncCount: 0)
    private var replacements: [RecordReplacement] = []
    private var conflicts: [SyncConflict] = []
    private var sent: [LocalRecord] = []
    private var hasRemovedCopy = false
    private var hasUploaded = false

    /// Prepares a synchronisation.
    ///
    /// - Parameter knownSyncCount: the count up to which the device has the changes; nil if it has no copy.
    init(knownSyncCount: Int64?) { self.knownSyncCount = knownSyncCount }

    mutating func start() -> Action { list(since: knownSyncCount ?? 0) }

    mutating func updatesListed(_ updates: DatasetUpdates) -> Action {
        self.updates = updates
        guard updates.mergedDatasetNames.isEmpty else { return .askAboutMerge(updates.mergedDatasetNames) }
        let isGone = updates.isDeleted || !updates.exists
        // A dataset of count 0 was never there: the user's first records would go with it.
        if isGone, let knownSyncCount, knownSyncCount > 0, !hasRemovedCopy { return .askAboutDeletion }
        return .loadRecords(updates.records.map(\.key))
    }

    mutating func mergeAnswered(goOn: Bool) -> Action {
        goOn ? list(since: hasRemovedCopy ? 0 : knownSyncCount ?? 0) : .fail(.canceled)
    }

    mutating func deletionAnswered(remove: Bool) -> Action { remove ? .removeLocalCopy : .fail(.canceled) }

    mutating func localCopyRemoved() -> Action {
        hasRemovedCopy = true
        return updates.exists ? list(since: 0) : .succeed([])
    }

    mutating func recordsLoaded(_ records: [LocalRecord]) -> Action {
        let byKey = Dictionary(records.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        replacements = []
        conflicts = []
        for remote in updates.records {
            let local = byKey[remote.key]
            if let local, local.isModified {
                if local.syncCount == remote.syncCount { continue }
                if local.value != remote.value {
                    conflicts.append(SyncConflict(local: local, remote: remote))
                    continue
                }
            }
            replacements.append(RecordReplacement(seen: local, record: LocalRecord(remote), isAnswer: false))
        }
        return conflicts.isEmpty ? replaceListed() : .askAboutConflicts(conflicts)
    }

    mutating func conflictsAnswered(_ resolved: [LocalRecord]?) -> Action {
        guard let resolved else { return .fail(.canceled) }
        let byKey = Dictionary(resolved.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
        let open = conflicts.map(\.remote.key).filter { byKey[$0] == nil }
        guard open.isEmpty else { return .fail(.conflictsUnresolved(keys: open)) }
        for conflict in conflicts {
            guard let record = byKey[conflict.remote.key] else { continue }
            replacements.append(RecordReplacement(seen: conflict.local, record: record, isAnswer: false))
        }
        return replaceListed()
    }

    mutating func replaced() -> Action { hasUploaded ? .succeed(updates.records) : .loadModifiedRecords }

    mutating func modifiedRecordsLoaded(_ records: [LocalRecord]) -> Action {
        guard !records.isEmpty else { return .succeed(updates.records) }
        sent = records
        return .upload(records, sessionToken: updates.sessionToken)
    }

    mutating func uploaded(_ answer: UploadAnswer) -> Action {
        switch answer {
        case .conflict: return list(since: sent.map(\.syncCount).min() ?? 0)
        case .stored(let records):
            hasUploaded = true
            let seen = Dictionary(sent.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            let answers = records.compactMap { record in
                seen[record.key].map { RecordReplacement(seen: $0, record: LocalRecord(record), isAnswer: true) }
            }
            // Any other count means that somebody else changed the dataset, too: the next synchronisation lists it.
            let (next, overflows) = updates.syncCount.addingReportingOverflow(1)
            let isNext = !overflows && records.map(\.syncCount).max() == next
            return .replace(answers, syncCount: isNext ? next : nil)
        }
    }

    private mutating func list(since syncCount: Int64) -> Action {
        attempts += 1
        return attempts <= Self.attemptsMaximum ? .listUpdates(since: syncCount) : .fail(.attemptsExhausted)
    }

    private func replaceListed() -> Action { .replace(replacements, syncCount: updates.syncCount) }
}
