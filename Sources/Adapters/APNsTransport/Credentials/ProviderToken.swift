/// A signed provider token, ready to be sent.
public struct ProviderToken: Sendable {
    /// Counts the tokens of one source, from 1; a greater number is a newer token.
    public let generation: UInt64
    /// Counts the keys of one source, from 1: APNs wants tokens of different keys on different connections.
    public let keyGeneration: UInt64
    /// The value of the header `authorization`, a secret: `bearer` and the token.
    public let headerValue: [UInt8]
}
