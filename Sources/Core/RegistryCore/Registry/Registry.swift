public import ChangeEvents
public import Notifications

/// The store of devices and subscriptions, as the core sees it.
///
/// Calls are synchronous and come from one thread, the one that owns the adapter; several processes may use the same
/// store at once. Every method throws `RegistryError`.
public protocol Registry: TokenRegistry {
    /// Finds the devices to notify for a batch of audiences, with one statement for each kind of audience in the batch.
    ///
    /// Answers come page by page so that an audience of any size costs bounded memory: `page.next` continues it, given
    /// the same audience, exclusion and `onlyDeviceIDs`. The order is stable: a device that stays in the audience is in
    /// exactly one page, despite additions and removals meanwhile. `next` is nil exactly if no device remains.
    ///
    /// - `dataset`: devices of that pool and identity, of any app, that subscribed to the dataset by name; if the
    ///   registry does not know the dataset yet, devices that subscribed to future datasets.
    /// - `tokens`: tokens of APNs, courier or FCM. A token that no device of the app has yields a device made up for
    ///   it, whose `deviceID` is the token in lowercase hexadecimal digits and whose platform is `.apns`. In
    ///   `onlyDeviceIDs` a token's digits stand for any device that has the token, so a retry finds a device that was
    ///   registered in between.
    /// - `identities`: of any pool.
    /// - A name that occurs twice in a list counts once.
    ///
    /// - Parameters:
    ///   - requests: the audiences to find; up to a few hundred.
    ///   - limit: the most devices in one page.
    /// - Returns: one page for each request, in the order of the requests.
    /// - Throws: `RegistryError` if the store cannot answer.
    func resolve(_ requests: [AudienceRequest], limit: Int) throws(RegistryError) -> [AudiencePage]

    /// Counts the devices of one page of a whole audience, and finds where it ends.
    ///
    /// The answer describes the page that `resolve` would give, at a fraction of the cost, because the devices are not
    /// read. All devices count, also the one that made the change, and those that joined after a fan-out began.
    ///
    /// - Parameters:
    ///   - audience: the audience whose devices to count.
    ///   - cursor: where the last page ended; nil for the first.
    ///   - limit: the most devices in the page.
    /// - Returns: the count, and where the next page begins.
    /// - Throws: `RegistryError` if the store cannot answer.
    func measure(
        _ audience: Audience, after cursor: AudienceCursor?, limit: Int
    ) throws(RegistryError) -> AudienceExtent

    /// Remembers the datasets of these identities, so that `subscribeToAllDatasets` knows them.
    ///
    /// Devices of the identity that subscribed to datasets to come are subscribed to each dataset that is new. A name
    /// that is no dataset name (`RegistryRules.isDatasetName`) is passed over, because nothing can subscribe to it.
    func recordDatasets(_ datasets: [DatasetKey]) throws(RegistryError)

    /// Removes what APNs found dead: with an alert token its device, of any other kind only the token.
    ///
    /// A device that has another token or platform by now stays, and so does one registered at or after the moment
    /// since which the token is dead. APNs' answer about one kind of token does not concern any other. Keys do not
    /// count: a subscription of Web Push is dead with its endpoint.
    ///
    /// A device whose token has a successor gets that one, and keeps all else; if another device of the app has it,
    /// this one is removed.
    ///
    /// - Returns: the number of removed tokens, without those that went with their device.
    func prune(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int

    /// Adds devices, or renews those with the same `deviceID`, gives each the further tokens that come with it, and
    /// subscribes it to the datasets and topics, all or none; the last of equal ones wins.
    ///
    /// Renewal replaces every value of the device. It keeps the subscriptions, except that a change of identity ends
    /// the dataset subscriptions and a change of app ends the topic subscriptions. A token belongs to one installation
    /// of an app: another device of the same app that has the token (`AddressKey`) is removed.
    ///
    /// - Parameters:
    ///   - registrations: the devices.
    ///   - keepsApps: whether all are refused if one of them belongs to another app.
    /// - Returns: how many devices are new.
    /// - Throws: `RegistryError` with `.invalid` if a device breaks a rule (`RegistryRules`), `.olderSchema` if the
    ///   registry has no room for an address yet; `deviceOfAnotherApp`.
    @discardableResult
    func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int

    /// Removes a device and its subscriptions; the answer is false if there was none.
    func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool

    /// One device, or nil.
    func device(_ deviceID: String) throws(RegistryError) -> Device?

    /// The registrations of devices, in their order, each with the moment of its alert token; nil for a device that is
    /// not there.
    func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?]

    /// The device of an app that has an address, or nil.
    ///
    /// Where tokens are bytes, and for FCM's, the platform makes no difference: a token belongs to one device.
    func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device?

    /// Devices in the order of their identifiers, after `deviceID` if one is given.
    func devices(matching filter: DeviceFilter, after deviceID: String?, limit: Int) throws(RegistryError) -> [Device]

    /// How many devices there are.
    func deviceCount() throws(RegistryError) -> Int

    /// Subscribes a device to a dataset of its own identity; a repeated subscription is one subscription.
    ///
    /// The dataset is known from then on, as if it had been given to `recordDatasets`.
    ///
    /// - Throws: `RegistryError.notFound` if there is no such device, `.invalid` if it has no identity or the name
    ///   is no dataset name.
    func subscribe(_ deviceID: String, toDataset datasetName: String) throws(RegistryError)

    /// Ends a subscription; the answer is false if there was none.
    func unsubscribe(_ deviceID: String, fromDataset datasetName: String) throws(RegistryError) -> Bool

    /// Subscribes a device to every dataset that the registry knows of its identity, or to the named ones among them.
    ///
    /// - Parameters:
    ///   - deviceID: the device.
    ///   - names: which of the known datasets; nil for all. An unknown name is an error, `.notFound`.
    ///   - includingFuture: whether datasets that the identity gets later count as subscribed too; false ends what an
    ///     earlier call with true began.
    /// - Returns: the names of all datasets that the device is now subscribed to, sorted.
    /// - Throws: `RegistryError.notFound` if there is no such device or dataset, `.invalid` if it has no identity.
    func subscribeToAllDatasets(
        _ deviceID: String, names: [String]?, includingFuture: Bool
    ) throws(RegistryError) -> [String]

    /// The dataset subscriptions of a device, by name.
    ///
    /// - Throws: `RegistryError.notFound` if there is no such device.
    func datasetSubscriptions(of deviceID: String) throws(RegistryError) -> DatasetSubscriptions

    /// Subscribes a device to a topic of its app; a repeated subscription is one subscription.
    ///
    /// - Throws: `RegistryError.notFound` if there is no such device, `.invalid` if the topic is empty or too long.
    func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError)

    /// Ends a topic subscription; the answer is false if there was none.
    func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool
}

extension Registry {
    /// Adds or renews devices and subscribes them, all or none; a device may belong to another app.
    public func register(_ registrations: [DeviceRegistration]) throws(RegistryError) {
        try register(registrations, keepsApps: false)
    }

    /// Adds devices, or renews those with the same `deviceID`, all or none.
    public func upsert(_ devices: [Device]) throws(RegistryError) {
        try register(devices.map { DeviceRegistration(device: $0) })
    }
}

/// The part of a registry that keeps what tokens a device has beside its alert token, at most one of each kind.
///
/// Such a token goes with its device, and ends when the device changes its app or goes over to a platform that is not
/// Apple's. No other renewal changes the token.
public protocol TokenRegistry: AnyObject {
    /// Gives devices tokens, all or none; the last of equal ones wins.
    ///
    /// A token belongs to one installation of an app: another device of the app that has it as this kind loses it.
    ///
    /// - Throws: `RegistryError` with `.notFound` if there is no such device, `.invalid` if the kind is `alert`, the
    ///   device's platform is not Apple's, or the token is the device's alert token.
    func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError)

    /// Takes a token from a device; the answer is false if it had none of that kind.
    func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool

    /// The tokens of each of these devices, sorted by kind; none for a device that is not there.
    func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]]

    /// The registered kinds of these tokens in an app, alert tokens included, in no particular order.
    func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken]

    /// Whether any device of an app has a token of a kind, which is not `alert`.
    func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool
}

/// The part of a registry that shows what belongs to a device.
public protocol DeviceDetailRegistry: AnyObject {
    /// The datasets, further tokens and badge of a device, which are looked up at once.
    ///
    /// - Throws: `RegistryError` with `.notFound` if there is no such device.
    func details(of deviceID: String) throws(RegistryError) -> DeviceDetails
}

/// The access to a registry, and whether it is created.
public enum RegistryOpenMode: Hashable, Sendable {
    /// It must exist; nothing is written.
    case readOnly
    /// It must be there.
    case existing
    /// As `existing` for a file; in a database of a server that has no registry one is made.
    case readWrite
    /// As `readWrite`, and a file that is missing is made.
    case create
}
