public import Essentials
public import Notifications

/// Reads and writes a registry in bulk, so that it can be moved into another store.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. Lists come in the order of bytes and go on after the last of the list before.
public protocol RegistryTransfer: AnyObject {
    /// Devices with everything that is theirs, in the order of their identifiers, after `deviceID` if one is given.
    func deviceRecords(after deviceID: String?, limit: Int) throws(RegistryError) -> [DeviceRecord]

    /// The named devices that exist, in no particular order.
    func deviceRecords(named deviceIDs: [String]) throws(RegistryError) -> [DeviceRecord]

    /// Makes devices be what their records say, all or none; they are added, or lose what their records do not have.
    ///
    /// Their topics by way of their users stay.
    func replaceDevices(_ records: [DeviceRecord]) throws(RegistryError)

    /// The datasets that the registry knows, by identity, pool and name.
    func knownDatasets(after key: DatasetKey?, limit: Int) throws(RegistryError) -> [DatasetKey]

    /// The users' subscriptions to topics, by user, app and topic.
    func topicUsers(after last: TopicUser?, limit: Int) throws(RegistryError) -> [TopicUser]

    /// Subscribes users to topics, all or none, as `subscribeUser` does for each.
    func addTopicUsers(_ list: [TopicUser]) throws(RegistryError)

    /// The named subscriptions to records that exist, in no particular order.
    func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription]

    /// All configurations of identity pools, by pool; there are a few.
    func poolConfigurations() throws(RegistryError) -> [PoolConfiguration]
}

/// Everything that a registry keeps about a device, subscriptions to records aside.
public struct DeviceRecord: Hashable, Sendable {
    /// The device.
    public var device: Device
    /// The datasets that it subscribed to, sorted.
    public var datasetNames: [String]
    /// Whether datasets that its identity gets later count as subscribed too.
    public var includesFutureDatasets: Bool
    /// The topics that it subscribed to by itself, sorted; those of its user are not among them.
    @ByBytes public var topics: [String]
    /// The number on its icon.
    public var badge: Int
    /// Its further tokens, sorted by kind.
    public var tokens: [FurtherToken]

    /// Creates a record.
    public init(
        device: Device, datasetNames: [String] = [], includesFutureDatasets: Bool = false, topics: [String] = [],
        badge: Int = 0, tokens: [FurtherToken] = []
    ) {
        self.device = device
        self.datasetNames = datasetNames
        self.includesFutureDatasets = includesFutureDatasets
        self.topics = topics
        self.badge = badge
        self.tokens = tokens
    }
}

extension RegistryRules {
    /// Checks a record of a device and its subscriptions.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ record: DeviceRecord) throws(RegistryError) {
        try check(
            DeviceRegistration(device: record.device, datasetNames: record.datasetNames, topics: record.topics))
        for token in record.tokens { try check(token, of: record.device) }
    }
}

/// A user's subscription to a topic of an app.
public struct TopicUser: Hashable, Sendable {
    /// The user.
    @ByBytes public var userID: String
    /// The app.
    public var app: String
    /// The topic.
    @ByBytes public var topic: String

    /// Creates a value.
    public init(userID: String, app: String, topic: String) {
        self.userID = userID
        self.app = app
        self.topic = topic
    }
}

/// The configuration of an identity pool, as the JSON that its client sent.
public struct PoolConfiguration: Hashable, Sendable {
    /// The pool.
    public var identityPoolID: String
    /// The JSON.
    public var json: [UInt8]

    /// Creates a value.
    public init(identityPoolID: String, json: [UInt8]) {
        self.identityPoolID = identityPoolID
        self.json = json
    }
}
