/// The registry's data for its own API: its tokens, and the configurations of identity pools.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`.
public protocol RegistryAdministration: AnyObject {
    /// Finds out whether the store can be written, and changes nothing.
    ///
    /// - Parameter thoroughly: whether to write as much as a client would, so that a full disk is found, too; otherwise
    ///   only locks are found.
    /// - Throws: `RegistryError` if it cannot be written.
    func checkWriting(thoroughly: Bool) throws(RegistryError)

    /// Keeps a token; one with the same name is replaced.
    func saveToken(_ token: APIToken) throws(RegistryError)

    /// Removes a token by its name; the answer is false if there was none.
    func removeToken(named name: String) throws(RegistryError) -> Bool

    /// All tokens, by name; there are a few.
    func tokens() throws(RegistryError) -> [APIToken]

    /// Keeps the configuration of an identity pool, as the JSON that its client sent.
    func savePoolConfiguration(_ json: [UInt8], of identityPoolID: String) throws(RegistryError)

    /// The configuration of an identity pool, or nil.
    func poolConfiguration(of identityPoolID: String) throws(RegistryError) -> [UInt8]?
}
