/// What one connection knows of its provider tokens: a pure state machine.
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
    /// The first token decides the key and the team. A change is refused within 20 minutes of the change before, and
    /// also to a token that was issued less than 20 minutes after the one that it replaces.
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
