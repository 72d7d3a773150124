import Crypto

/// Tells genuine provider tokens from others, and remembers the genuine ones.
///
/// To verify a signature costs more than all the rest of a request together. Lives on one loop.
struct ProviderTokenVerifier {
    /// How many distinct tokens are remembered; more than that are verified again.
    static let rememberedTokensMaximum = 256

    private let keys: [String: (teamID: String, key: ES256PublicKey)]
    private var remembered: [[UInt8]: ProviderToken] = [:]

    /// Creates a verifier for the keys that are known, by key identifier.
    init(keys: [String: (teamID: String, key: ES256PublicKey)]) { self.keys = keys }

    /// Finds the token in a request's `authorization`.
    ///
    /// - Returns: the token if a known key of the team that it names signed it.
    mutating func genuineToken(inAuthorization text: UnsafeBufferPointer<UInt8>) -> ProviderToken? {
        let key = Array(text)
        if let token = remembered[key] { return token }
        guard let token = ProviderToken(text: text), let owner = keys[token.keyID], owner.teamID == token.teamID,
            token.isSigned(by: owner.key)
        else { return nil }
        if remembered.count >= Self.rememberedTokensMaximum { remembered.removeAll(keepingCapacity: true) }
        remembered[key] = token
        return token
    }
}
