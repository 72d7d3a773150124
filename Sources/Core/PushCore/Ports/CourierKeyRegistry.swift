/// The part of a registry that keeps the key of its servers.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may ask at once, and all of them get the same key.
public protocol CourierKeyRegistry: AnyObject {
    /// The key that is kept; nil if there is none yet.
    func storedCourierKey() throws(RegistryError) -> CourierKey?

    /// Keeps a key unless there is one already.
    ///
    /// - Parameter key: what to keep.
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
