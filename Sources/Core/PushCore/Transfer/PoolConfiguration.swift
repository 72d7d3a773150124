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
