import Hashing
public import Notifications

/// Which datasets this process has told the registry about lately, so that it tells each but once.
///
/// When it is full it forgets old ones, which are then told again.
public struct RecordedDatasets: Sendable {
    private var known = DigestCache<Bool>(capacity: 32_768)

    /// Creates an empty memory.
    public init() {}

    /// Whether the registry was told of this dataset.
    public func contains(_ key: DatasetKey) -> Bool { known[key.digest] != nil }

    /// The registry knows these datasets now.
    public mutating func insert(_ keys: [DatasetKey]) {
        for key in keys { known.set(true, for: key.digest) }
    }
}
