/// Why a synchronisation failed.
public enum SyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A callback said not to go on.
    case canceled
    /// `onConflict` resolved some conflicts, but not those of these keys.
    case conflictsUnresolved(keys: [String])
    /// Others changed the dataset each time before the changes from here were stored, or merged datasets stayed.
    case attemptsExhausted
    /// A store threw an error; with its text.
    case storeFailed(String)

    /// The error and its remedy, in words.
    public var description: String {
        switch self {
        case .canceled: "a callback canceled the synchronisation"
        case .conflictsUnresolved(let keys):
            "onConflict left \(keys.count) conflicts unresolved, the first of the key "
                + "\"\(PayloadProblem.printable(keys.first ?? ""))\"; return a record for each, or nil to cancel"
        case .attemptsExhausted:
            "the dataset changed, or had datasets to merge, in each of "
                + "\(SynchronizationStateMachine.attemptsMaximum) attempts; synchronise again later"
        case .storeFailed(let text): "a store failed: \(text)"
        }
    }
}

/// The callbacks to an app while a dataset is synchronised, as in Amazon Cognito Sync's client (`SyncCallback`).
public protocol SyncCallbacks: Sendable {
    /// The dataset is synchronised.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - updatedRecords: the records from the remote store, also those that were removed there.
    func onSuccess(_ dataset: DatasetName, updatedRecords: [RemoteRecord]) async

    /// Records were changed both here and elsewhere.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - conflicts: the conflicts.
    /// - Returns: the resolution of each (`SyncConflict.resolvedWithLocal()` and the like); nil cancels.
    func onConflict(_ dataset: DatasetName, conflicts: [SyncConflict]) async -> [LocalRecord]?

    /// The dataset was deleted elsewhere.
    ///
    /// - Parameter dataset: the dataset.
    /// - Returns: whether to remove the copy of it; false cancels and keeps the copy.
    func onDatasetDeleted(_ dataset: DatasetName) async -> Bool

    /// Datasets of other identities became the user's, for example when a guest signed in.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - mergedDatasetNames: their names; synchronise each, take over what is wanted, and delete it.
    /// - Returns: whether to go on; false cancels.
    func onDatasetsMerged(_ dataset: DatasetName, mergedDatasetNames: [String]) async -> Bool

    /// The dataset is not synchronised; changes that were stored before stay stored.
    ///
    /// A store threw, a callback cancelled, or four attempts were not enough.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - error: the reason.
    func onFailure(_ dataset: DatasetName, error: SyncError) async
}

extension SyncCallbacks {
    /// Lets the later change win.
    public func onConflict(_ dataset: DatasetName, conflicts: [SyncConflict]) async -> [LocalRecord]? {
        conflicts.map { $0.resolvedWithLatest() }
    }
}
