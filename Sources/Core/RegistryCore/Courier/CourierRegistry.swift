public import Notifications

/// The store of messages for devices of the platform `.courier`, whose clients fetch them.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use the store at once. A message ends with its device.
public protocol CourierRegistry: AnyObject {
    /// Lets messages wait for their devices, all or none; they are kept when the call returns.
    ///
    /// A message replaces an earlier one of its device with the same collapse identifier; a push that waits already
    /// stays unchanged. A device has at most `CourierRules.messagesPerDeviceMaximum`: the oldest go first. A device
    /// that was neither registered again nor asked for anything for `CourierRules.silenceMillisecondsMaximum` counts as
    /// gone; if it has never asked, since its first message.
    ///
    /// - Parameters:
    ///   - messages: up to a few hundred, in their order.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: for each message, in their order, whether its device is there.
    /// - Throws: `RegistryError` if the store cannot be written.
    func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool]

    /// Takes the oldest message that has not expired of each of these devices; each is given to one caller only.
    ///
    /// - Parameters:
    ///   - tokens: distinct tokens of devices of the platform `.courier`, of any app; up to a thousand or so.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the result for each, in their order.
    /// - Throws: `RegistryError` if the store cannot answer, or cannot be written if there is something to take.
    func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult]
}

/// The part of a registry that keeps the key of its servers.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may ask at once, and all of them get the same key.
public protocol CourierKeyRegistry: AnyObject {
    /// The key that is kept; nil if there is none yet.
    func storedCourierKey() throws(RegistryError) -> CourierKey?

    /// Keeps a key unless there is one already.
    ///
    /// - Parameter key: the key to store.
    /// - Returns: the key that is kept from now on.
    /// - Throws: `RegistryError` if the store cannot be written.
    func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey
}

extension CourierKeyRegistry {
    /// The courier key, which the first call makes.
    ///
    /// - Returns: the key.
    /// - Throws: `RegistryError`, for example with `.readOnly` if there is none yet and none may be made.
    public func courierKey() throws(RegistryError) -> CourierKey {
        if let key = try storedCourierKey() { return key }
        return try keepCourierKey(.random())
    }
}
