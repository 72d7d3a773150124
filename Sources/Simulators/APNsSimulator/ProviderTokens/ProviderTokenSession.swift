import Crypto
import PushServiceSimulator

/// The provider tokens of one connection: a pure state machine.
///
/// Source: Apple, "Establishing a token-based connection to APNs", for the hour, the 20 minutes and the one team of a
/// connection; "Handling notification responses from APNs" for the reasons.
struct ProviderTokenSession {
    /// How old a token may be.
    static let ageSecondsMaximum: Int64 = 3_600
    /// How far in the future a token may have been issued: clocks differ a little.
    static let clockSkewSecondsMaximum: Int64 = 60
    /// How often a token may change on one connection.
    static let changeIntervalSeconds: Int64 = 1_200

    private var authorization: [UInt8] = []
    private var current: (keyID: String, teamID: String, issuedAtSeconds: Int64)?
    private var lastChangeSeconds: Int64?

    /// Whether a valid token has been seen.
    private(set) var isAuthenticated = false

    /// Whether this is the very header that the connection's last token came in.
    func isCurrent(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        isAuthenticated && value.matches(authorization)
    }

    /// Judges the token that the connection used before.
    func rejectionOfCurrent(nowSeconds: Int64) -> Rejection? {
        guard let current else { return .missingProviderToken }
        return Self.ageRejection(current.issuedAtSeconds, nowSeconds: nowSeconds)
    }

    /// Judges a genuine token that is new to the connection, and takes it over unless it is refused.
    ///
    /// The first token decides the key and the team. A change is refused within 20 minutes of the previous change, and
    /// also to a token that was issued less than 20 minutes after its predecessor.
    mutating func admit(
        _ new: ProviderToken, authorization value: UnsafeBufferPointer<UInt8>, nowSeconds: Int64
    ) -> Rejection? {
        if let rejection = Self.ageRejection(new.issuedAtSeconds, nowSeconds: nowSeconds) { return rejection }
        if let current {
            guard new.teamID == current.teamID else { return .invalidProviderToken }
            guard new.keyID == current.keyID else { return .unrelatedKeyIDInToken }
            guard new.issuedAtSeconds - current.issuedAtSeconds >= Self.changeIntervalSeconds else {
                return .tooManyProviderTokenUpdates
            }
            if let last = lastChangeSeconds, nowSeconds - last < Self.changeIntervalSeconds {
                return .tooManyProviderTokenUpdates
            }
            lastChangeSeconds = nowSeconds
        }
        current = (new.keyID, new.teamID, new.issuedAtSeconds)
        isAuthenticated = true
        authorization = Array(value)
        return nil
    }

    private static func ageRejection(_ issuedAtSeconds: Int64, nowSeconds: Int64) -> Rejection? {
        if issuedAtSeconds < nowSeconds - ageSecondsMaximum { return .expiredProviderToken }
        if issuedAtSeconds > nowSeconds + clockSkewSecondsMaximum { return .invalidProviderToken }
        return nil
    }
}

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
