/// A pair of identifier and secret with which requests are signed, and what it opens.
///
/// Whatever prints a key by accident shows its identifier only.
public struct AccessKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier, which travels with each request.
    public let identifier: String
    /// The only identity pools that the key may be used for; empty for all.
    public let identityPoolIDs: [String]
    /// What signatures are made with.
    let secret: String

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - identifier: what travels with each request.
    ///   - secret: what only the client and the server know.
    ///   - identityPoolIDs: the only pools that it may be used for; empty for all.
    public init(identifier: String, secret: String, identityPoolIDs: [String] = []) {
        self.identifier = identifier
        self.secret = secret
        self.identityPoolIDs = identityPoolIDs
    }

    /// The identifier.
    public var description: String { "access key \(identifier)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Whether the key may be used for a pool.
    func opens(_ identityPoolID: String) -> Bool {
        identityPoolIDs.isEmpty || identityPoolIDs.contains(identityPoolID)
    }
}
