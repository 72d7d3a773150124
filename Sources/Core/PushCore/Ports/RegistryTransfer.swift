public import Notifications

/// Reads and writes a registry in bulk, so that it can be moved into another store.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. Lists come in the order of bytes and go on after the last of the list before.
public protocol RegistryTransfer: AnyObject {
    /// Devices with everything that is theirs, in the order of their identifiers, after `deviceID` if one is given.
    func deviceRecords(after deviceID: String?, limit: Int) throws(RegistryError) -> [DeviceRecord]

    /// Those of the named devices that are there, in no particular order.
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

    /// Those of the subscriptions to records that are there, in no particular order.
    func storedSubscriptions(_ keys: [SubscriptionKey]) throws(RegistryError) -> [StoredSubscription]

    /// All configurations of identity pools, by pool; there are a few.
    func poolConfigurations() throws(RegistryError) -> [PoolConfiguration]
}
