/// The sync count up to which an app has synchronised each of its datasets; it tells old pushes from new ones.
///
/// A sync count grows with each change of a dataset. Pushes come late, twice or in another order, so a change that the
/// app already has makes no work. Deletions and merges always do, because counts begin again in a dataset that is
/// created again, so that an old one cannot be told from a new one.
///
/// A push may be lost, and with it the news that a dataset was created again, whose changes would then look old. So an
/// app synchronises when it starts, too; the count of the store is valid, even if it is less.
public struct SyncCounts: Hashable, Sendable, Codable {
    private var counts: [DatasetName: Int64] = [:]

    /// Creates counts of no dataset.
    public init() {}

    /// The count up to which a dataset is synchronised; nil if it never was.
    public subscript(dataset: DatasetName) -> Int64? { counts[dataset] }

    /// The datasets that were synchronised.
    public var datasets: Set<DatasetName> { Set(counts.keys) }

    /// Decides whether a push is a reason to synchronise a dataset.
    ///
    /// - Parameter event: the event of the push.
    /// - Returns: the dataset to synchronise; nil if the change is known, or the push is not about a dataset.
    public func datasetToSynchronize(after event: PushEvent) -> DatasetName? {
        switch event {
        case .datasetChanged(let push):
            guard let syncCount = push.syncCount, let known = counts[push.dataset] else { return push.dataset }
            return syncCount > known ? push.dataset : nil
        case .datasetDeleted(let push), .datasetsMerged(let push, _): return push.dataset
        default: return nil
        }
    }

    /// A dataset has been synchronised.
    ///
    /// - Parameters:
    ///   - dataset: the dataset.
    ///   - syncCount: the count that the store says, which may be less than the one before; negative ones count as 0.
    public mutating func synchronized(_ dataset: DatasetName, to syncCount: Int64) {
        counts[dataset] = max(0, syncCount)
    }

    /// A dataset is gone, or the app has no copy of it any more.
    public mutating func forget(_ dataset: DatasetName) { counts[dataset] = nil }

    /// Forgets all datasets of other identities: another user has signed in.
    public mutating func keepOnly(identityID: String) {
        counts = counts.filter { $0.key.identityID == identityID }
    }
}
