/// The part of a registry that keeps the key of its servers.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may ask at once, and all of them get the same key.
public protocol ServerKeyRegistry: AnyObject {
    /// The key that is kept; nil if there is none yet.
    func storedServerKey() throws(RegistryError) -> ServerKey?

    /// Keeps a key unless there is one already.
    ///
    /// - Parameter key: what to keep.
    /// - Returns: the key that is kept from now on.
    /// - Throws: `RegistryError` if the store cannot be written.
    func keepServerKey(_ key: ServerKey) throws(RegistryError) -> ServerKey
}

extension ServerKeyRegistry {
    /// The key of the servers, which the first call makes.
    ///
    /// - Returns: the key.
    /// - Throws: `RegistryError`, for example with `.readOnly` if there is none yet and none may be made.
    public func serverKey() throws(RegistryError) -> ServerKey {
        if let key = try storedServerKey() { return key }
        return try keepServerKey(.random())
    }
}
