public import Hashing

/// A change of a Cognito dataset.
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

    /// The kind of the change.
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

/// Names one Cognito dataset: a pool, an identity in it, and the dataset's name.
///
/// An event's key is looked up in many tables, so it is hashed once, when it is made, and its copies share their texts.
public struct DatasetKey: Hashable, Sendable {
    private final class Names: Sendable {
        let identityPoolID: String
        let identityID: String
        let datasetName: String
        let digest: WordDigest

        init(identityPoolID: String, identityID: String, datasetName: String) {
            self.identityPoolID = identityPoolID
            self.identityID = identityID
            self.datasetName = datasetName
            // Users choose these texts, so which of them collide must be unknown to them.
            var digest = WordDigest(seed: WordDigest.secretSeed)
            digest.mix(identityPoolID)
            digest.mix(identityID)
            digest.mix(datasetName)
            digest.finish()
            self.digest = digest
        }
    }

    private let names: Names

    /// The identity pool, for example `us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c`.
    public var identityPoolID: String { names.identityPoolID }
    /// The identity.
    public var identityID: String { names.identityID }
    /// The dataset, 1 to 128 bytes of `[a-zA-Z0-9_.:-]`.
    public var datasetName: String { names.datasetName }

    /// A hash of the three names that is good for this process only.
    public var digest: WordDigest { names.digest }

    /// Creates a key.
    public init(identityPoolID: String, identityID: String, datasetName: String) {
        names = Names(identityPoolID: identityPoolID, identityID: identityID, datasetName: datasetName)
    }

    /// Whether both name the same dataset.
    public static func == (left: DatasetKey, right: DatasetKey) -> Bool {
        if left.names === right.names { return true }
        return left.digest == right.digest && left.identityID == right.identityID
            && left.datasetName == right.datasetName && left.identityPoolID == right.identityPoolID
    }

    /// Feeds the hash that was made with the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(names.digest.low) }
}
