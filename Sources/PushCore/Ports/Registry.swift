/// The store of devices and subscriptions, as the core sees it.
///
/// Calls are synchronous and come from one thread, the one that owns the adapter; several processes may use the same
/// store at once. Every method throws `RegistryError`.
public protocol Registry: AnyObject {
    /// Finds the devices to notify for a batch of audiences, with one statement for each kind of audience in the batch.
    ///
    /// Answers come page by page so that an audience of any size costs bounded memory: `page.next` continues it.
    ///
    /// - Parameters:
    ///   - requests: whom to find; up to a few hundred.
    ///   - limit: the most devices in one page.
    /// - Returns: one page for each request, in the order of the requests.
    /// - Throws: `RegistryError` if the store cannot answer.
    func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage]

    /// Remembers the datasets of these identities, so that `subscribeToAllDatasets` knows them.
    func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError)

    /// Removes devices whose token APNs found dead, each unless it was registered again since.
    ///
    /// - Returns: how many were removed.
    func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int

    /// Adds devices, or renews those with the same `deviceID`; renewal keeps their subscriptions.
    func upsert(_ devices: [Device]) throws(RegistryError)

    /// Removes a device and its subscriptions; the answer is false if there was none.
    func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool

    /// One device, or nil.
    func device(_ deviceID: String) throws(RegistryError) -> Device?

    /// Devices in the order of their identifiers, after `deviceID` if one is given.
    func devices(matching filter: DeviceFilter, after deviceID: String?, limit: Int) throws(RegistryError) -> [Device]

    /// How many devices there are.
    func deviceCount() throws(RegistryError) -> Int

    /// Subscribes a device to a dataset of its own identity; a repeated subscription is one subscription.
    ///
    /// - Throws: `RegistryError.notFound` if there is no such device, `.invalid` if it has no identity.
    func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError)

    /// Ends a subscription; the answer is false if there was none.
    func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool

    /// Subscribes a device to every dataset that the registry knows of its identity, or to the named ones among them.
    ///
    /// - Parameters:
    ///   - deviceID: the device.
    ///   - names: which of the known datasets; nil for all. An unknown name is an error, `.notFound`.
    ///   - includingFuture: whether datasets that the identity gets later count as subscribed too.
    /// - Returns: the names of all datasets that the device is now subscribed to.
    /// - Throws: `RegistryError.notFound` for an unknown device or dataset, `.invalid` for a device without identity.
    func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String]

    /// The dataset subscriptions of a device, by name.
    func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions

    /// Subscribes a device to a topic of its app; a repeated subscription is one subscription.
    func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError)

    /// Ends a topic subscription; the answer is false if there was none.
    func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool
}
