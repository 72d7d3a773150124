import Essentials

/// The assertion of a service account: a JSON Web Token, to be exchanged for an access token.
///
/// Source: Google, "Using OAuth 2.0 for server to server applications"; RFC 7523 for the grant, RFC 7515 for the form.
struct Assertion {
    /// How far the clocks may differ.
    static let clockSkewSecondsMaximum: Int64 = 60
    /// How long an assertion may live.
    static let lifeSecondsMaximum: Int64 = 3_600

    private static let bytesMaximum = 16_384
    private static let audience = "https://oauth2.googleapis.com/token"

    /// The claim `alg` of the header.
    let algorithm: String
    /// The claim `kid` of the header: which key signed it, if it says so.
    let keyID: String?
    /// The claim `iss`: the address of the account.
    let issuer: String
    /// The scopes, which stand in one text with spaces between.
    let scopes: [String]
    /// The signed bytes: header and claims, as they stand in the token.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    private let claimedAudience: String
    private let issuedAtSeconds: Int64
    private let expiresAtSeconds: Int64

    /// Reads an assertion without checking anything but its form; nil if that is wrong or a claim is missing.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.bytesMaximum, parts.count == 3 else { return nil }
        let decoded = parts.compactMap { Base64URL.decode($0) }
        guard decoded.count == 3, let header = GoogleJSON.parse(decoded[0]), let claims = GoogleJSON.parse(decoded[1]),
            let algorithm = header["alg"]?.text, let issuer = claims["iss"]?.text, let audience = claims["aud"]?.text,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer
        else { return nil }
        if let type = header["typ"], type != .string("JWT") { return nil }
        self.algorithm = algorithm
        keyID = header["kid"]?.text
        self.issuer = issuer
        scopes = (claims["scope"]?.text ?? "").split(separator: " ").map(String.init)
        claimedAudience = audience
        issuedAtSeconds = issuedAt
        expiresAtSeconds = expiresAt
        signedBytes = Array((parts[0] + "." + parts[1]).utf8)
        signature = decoded[2]
    }

    /// Whether an audience is Google's, or this endpoint under any name by which it is reached, and with its port.
    private static func isAudience(_ text: String) -> Bool {
        if text == audience { return true }
        guard text.hasPrefix("https://"), text.hasSuffix(TokenEndpoint.path) else { return false }
        let port = text.dropLast(TokenEndpoint.path.count).split(separator: ":").last ?? ""
        return UInt16(port) != nil
    }

    /// Judges the claims of an assertion whose signature is good.
    ///
    /// - Parameter nowSeconds: the time, in seconds since 1970.
    /// - Returns: why no access token is given for it; nil if nothing speaks against it.
    func refusal(nowSeconds: Int64) -> TokenRefusal? {
        guard Self.isAudience(claimedAudience) else { return .badAudience }
        let (life, overflows) = expiresAtSeconds.subtractingReportingOverflow(issuedAtSeconds)
        guard !overflows, (1...Self.lifeSecondsMaximum).contains(life),
            issuedAtSeconds <= nowSeconds + Self.clockSkewSecondsMaximum,
            expiresAtSeconds > nowSeconds - Self.clockSkewSecondsMaximum
        else { return .badTime }
        guard !scopes.isEmpty, scopes.allSatisfy(FCMGrant.isScope) else { return .invalidScope }
        return nil
    }
}
