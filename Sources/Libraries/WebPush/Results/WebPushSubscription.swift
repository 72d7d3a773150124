internal import Crypto
internal import EncryptedContent
internal import Essentials
public import FoundationEssentials
internal import Notifications
public import PushLibrary
internal import WebPushTransport

/// A browser's subscription to its push service, as `PushSubscription.toJSON()` returns it.
///
/// The JSON is that of the W3C's Push API, §8:
///
///     {"endpoint":"https://…","expirationTime":null,"keys":{"p256dh":"…","auth":"…"}}
///
/// A holder of all its parts can push to the browser, so its description shows only the host.
public struct WebPushSubscription: Hashable, Sendable, CustomStringConvertible {
    let deviceToken: DeviceToken

    /// Checks a subscription.
    ///
    /// - Parameters:
    ///   - endpoint: where the push service takes messages: an `https` URL of at most 2,048 bytes, without user and
    ///     fragment.
    ///   - p256dh: the browser's public key, a point of P-256 in base64url: 65 bytes.
    ///   - auth: the authentication secret in base64url: 16 bytes.
    ///   - expirationTime: when the subscription ends; nil if it does not say.
    /// - Throws: `PushError` (`tokenInvalid`) that names the wrong member and the rule, without the endpoint's path and
    ///   the keys.
    public init(endpoint: String, p256dh: String, auth: String, expirationTime: Date? = nil) throws(PushError) {
        try Self.requireEndpoint(endpoint)
        let point = try Self.bytes(p256dh, "keys.p256dh", count: WebPushKeys.publicKeyBytes)
        let secret = try Self.bytes(auth, "keys.auth", count: WebPushKeys.authenticationSecretBytes)
        do throws(EncryptedContentError) {
            try RecipientKeys(publicPoint: point, authenticationSecret: secret).requireValidPoint()
        } catch {
            throw Self.invalid("keys.p256dh", "is no public key of a browser: \(error.message)")
        }
        let milliseconds = try expirationTime.map { end throws(PushError) in try Self.milliseconds(end) }
        guard let keys = WebPushKeys(publicKey: point, authenticationSecret: secret),
            let token = DeviceToken(
                text: Array(endpoint.utf8),
                details: PushAddressDetails(webPushKeys: keys, expiresAtMilliseconds: milliseconds))
        else {
            throw Self.invalid(
                "endpoint",
                "must be 1 to \(DeviceToken.textBytesMaximum) characters of printable ASCII without blanks")
        }
        deviceToken = token
    }

    init(_ deviceToken: DeviceToken) { self.deviceToken = deviceToken }

    /// Where the push service takes messages; a secret.
    public var endpoint: String { deviceToken.text(for: .webPush) }

    /// The browser's public key in base64url.
    public var p256dh: String { Base64URL.encode(deviceToken.details?.webPushKeys?.publicKey ?? []) }

    /// The authentication secret in base64url.
    public var auth: String { Base64URL.encode(deviceToken.details?.webPushKeys?.authenticationSecret ?? []) }

    /// When the subscription ends, in whole seconds; nil if it does not say.
    public var expirationTime: Date? {
        deviceToken.details?.expiresAtMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    /// The host of the endpoint, and its length.
    public var description: String { deviceToken.description }

    // MARK: Checks

    private static func requireEndpoint(_ endpoint: String) throws(PushError) {
        guard !endpoint.contains("#") else {
            throw invalid("endpoint", "has a fragment (#); give it as the browser does")
        }
        do throws(VAPIDError) { _ = try VAPIDAudience(endpoint: endpoint) } catch {
            throw invalid("endpoint", "is refused: \(error.message)")
        }
    }

    /// The end in whole seconds; one after the year 9999 is brought forward to it.
    private static func milliseconds(_ end: Date) throws(PushError) -> Int64 {
        let seconds = end.timeIntervalSince1970
        guard seconds >= 0 else { throw invalid("expirationTime", "lies before 1970") }
        return Int64(min(seconds, Double(UnixTime.secondsMaximum))) * 1_000
    }

    /// Reads base64 of either alphabet, with or without padding.
    private static func bytes(_ text: String, _ name: String, count: Int) throws(PushError) -> [UInt8] {
        let digits = text.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
        guard text.utf8.count - digits.utf8.count <= 2, let bytes = Base64URL.decode(digits) else {
            throw invalid(name, "is no base64url")
        }
        guard bytes.count == count else { throw invalid(name, "has \(bytes.count) bytes, and must have \(count)") }
        return bytes
    }

    private static func invalid(_ name: String, _ problem: String) -> PushError {
        PushError(.tokenInvalid, "the subscription's \(name) \(problem)")
    }
}

extension WebPushSubscription: Codable {
    private enum CodingKeys: String, CodingKey { case endpoint, expirationTime, keys }

    private struct Keys: Codable {
        var p256dh: String
        var auth: String
    }

    /// Decodes what the browser wrote; members that are not known are ignored.
    ///
    /// - Throws: `DecodingError`, with a `PushError` beneath it if a member is there and wrong.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let endpoint = try container.decode(String.self, forKey: .endpoint)
        let keys = try container.decode(Keys.self, forKey: .keys)
        let milliseconds = try container.decodeIfPresent(Double.self, forKey: .expirationTime)
        do throws(PushError) {
            try self.init(
                endpoint: endpoint, p256dh: keys.p256dh, auth: keys.auth,
                expirationTime: milliseconds.map { Date(timeIntervalSince1970: $0 / 1_000) })
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    /// Encodes it as the browser does, for a database; it is a secret.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(endpoint, forKey: .endpoint)
        try container.encode(deviceToken.details?.expiresAtMilliseconds, forKey: .expirationTime)
        try container.encode(Keys(p256dh: p256dh, auth: auth), forKey: .keys)
    }
}
