import Crypto
import Essentials
import Hashing
import JSON

/// A VAPID token whose form and signature are good, and its claims (RFC 8292 §2).
struct VAPIDToken {
    /// How far `exp` may be ahead of the request.
    static let lifeSecondsMaximum: Int64 = 86_400

    /// The key that signed it, as a point of 65 bytes.
    let key: [UInt8]
    /// 128 bits that tell the token from others.
    let identity: UInt128

    private let audience: String
    private let expiresAtSeconds: Int64
    private let subject: String?

    /// Verifies the token of a header: form, `typ`, `alg`, signature, and the types of the claims.
    ///
    /// - Throws: `vapidTokenInvalid`, or `vapidKeyInvalid` if the key is not on the curve.
    init(_ authorization: VAPIDAuthorization, parser: JSONParser) throws(WebPushRefusal) {
        let parts = authorization.token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .vapidTokenInvalid }
        let decoded = parts.compactMap { Base64URL.decode($0) }
        guard decoded.count == 3 else { throw .vapidTokenInvalid }
        guard let verifier = try? ES256PublicKey(point: authorization.key) else { throw .vapidKeyInvalid }
        try Self.requireHeader(decoded[0], parser)
        guard let claims = (try? parser.parse(decoded[1]))?.object,
            let audience = claims["aud"]?.string,
            let expiresAt = claims["exp"]?.int64
        else { throw .vapidTokenInvalid }
        if let subject = claims["sub"], subject.string == nil { throw .vapidTokenInvalid }
        self.audience = audience
        expiresAtSeconds = expiresAt
        subject = claims["sub"]?.string
        guard verifier.isValid(signature: decoded[2], of: Array("\(parts[0]).\(parts[1])".utf8)) else {
            throw .vapidTokenInvalid
        }
        key = authorization.key
        var digest = WordDigest()
        digest.mix(authorization.token)
        digest.finish()
        identity = UInt128(digest.high) << 64 | UInt128(digest.low)
    }

    private static func requireHeader(_ bytes: [UInt8], _ parser: JSONParser) throws(WebPushRefusal) {
        guard let header = (try? parser.parse(bytes))?.object, header["alg"]?.isString("ES256") == true,
            header["typ"]?.isString("JWT") == true
        else { throw .vapidTokenInvalid }
    }

    /// Judges the claims.
    ///
    /// - Parameters:
    ///   - origin: the expected value of `aud`.
    ///   - profile: the profile with the rules for `sub`.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: the rule that they break.
    func check(origin: String, profile: ServiceProfile, nowSeconds now: Int64) throws(WebPushRefusal) {
        guard audience == origin else { throw .vapidAudience }
        guard expiresAtSeconds > now else { throw .vapidExpired }
        guard expiresAtSeconds <= now + Self.lifeSecondsMaximum else { throw .vapidExpiryTooFar }
        if profile == .apple, !VAPIDSubjectRule.isReachable(subject) { throw .vapidSubject }
    }
}

/// The rule of Apple's service for the claim `sub`, which others do not check.
///
/// Sources: the issues 947 and 988 of web-push, 338 of sygnal, 175 of pywebpush, 398 of web-push-php.
enum VAPIDSubjectRule {
    private static let unreachable = ["localhost", ".localhost", ".local", ".invalid", ".test", ".example"]

    /// Whether it is a `mailto:` or `https:` address with a host that can be reached from elsewhere.
    static func isReachable(_ subject: String?) -> Bool {
        guard let subject, !subject.contains(where: \.isWhitespace) else { return false }
        let host: Substring
        if subject.hasPrefix("mailto:") {
            let parts = subject.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return false }
            host = parts[1]
        } else if subject.hasPrefix("https://") {
            host = subject.dropFirst(8).prefix { !"/?#:".contains($0) }
        } else {
            return false
        }
        let name = host.lowercased()
        return name.contains(".") && !name.hasPrefix(".") && !name.hasSuffix(".")
            && !unreachable.contains { name == $0 || ($0.hasPrefix(".") && name.hasSuffix($0)) }
    }
}

/// The tokens that were verified lately, because a sender uses each of them for hours.
struct VAPIDTokenCache {
    /// The most tokens that are kept; one more makes the cache forget all others.
    private static let tokensMaximum = 1_024

    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: 4_096)
    private var tokens: [String: VAPIDToken] = [:]

    /// The token of a header, verified now or before.
    ///
    /// - Throws: why the header is refused.
    mutating func token(_ value: String) throws(WebPushRefusal) -> VAPIDToken {
        if let token = tokens[value] { return token }
        let token = try VAPIDToken(try VAPIDAuthorization(value), parser: parser)
        if tokens.count >= Self.tokensMaximum { tokens.removeAll(keepingCapacity: true) }
        tokens[value] = token
        return token
    }
}
