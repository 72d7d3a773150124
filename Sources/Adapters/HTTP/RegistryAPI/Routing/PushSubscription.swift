import Crypto
import Essentials
public import JSON
public import Notifications
import RegistryCore

/// The subscription of a browser to its push service, as `PushSubscription.toJSON()` returns it (W3C Push API §8).
///
/// `{"endpoint":"https://…","expirationTime":null,"keys":{"p256dh":"…","auth":"…"}}`
public struct PushSubscription: Hashable, Sendable {
    /// Where the push service takes messages for the browser.
    public var endpoint: String
    /// When the subscription ends, in milliseconds since 1970; nil if it does not say.
    public var expirationTime: Int64?
    /// The browser's public key: an uncompressed point of P-256 in base64.
    public var p256dh: String
    /// The authentication secret: 16 bytes in base64.
    public var auth: String

    /// Creates a subscription from its parts, which `token` checks.
    public init(endpoint: String, expirationTime: Int64? = nil, p256dh: String, auth: String) {
        self.endpoint = endpoint
        self.expirationTime = expirationTime
        self.p256dh = p256dh
        self.auth = auth
    }

    /// Reads the JSON of a browser.
    ///
    /// Members that are not known are ignored, because browsers may come to write more of them.
    ///
    /// - Parameter value: the JSON.
    /// - Throws: `PlatformTokenError` if a member is missing or has another type.
    public init(_ value: JSONValue) throws(PlatformTokenError) {
        guard let object = value.object else {
            throw PlatformTokenError("it must be the object that toJSON() returns, not \(value.kind.rawValue).")
        }
        guard let keys = object["keys"]?.object else {
            throw PlatformTokenError("it has no object \"keys\"; give it as toJSON() returns it.")
        }
        endpoint = try Self.text(object, "endpoint")
        p256dh = try Self.text(keys, "p256dh")
        auth = try Self.text(keys, "auth")
        guard let end = object["expirationTime"], !end.isNull else { return }
        guard let milliseconds = end.double, milliseconds >= 0, milliseconds.isFinite else {
            throw PlatformTokenError("its \"expirationTime\" must be null or milliseconds since 1970.")
        }
        // A time of the DOM may have a fraction.
        expirationTime =
            Int64(exactly: milliseconds.rounded(.down)).map { WallTime(milliseconds: $0).milliseconds }
            ?? WallTime.latest.milliseconds
    }

    private static func text(
        _ object: JSONObject, _ name: StaticString
    ) throws(PlatformTokenError) -> String {
        guard let text = object[name]?.string else { throw PlatformTokenError("it has no string \"\(name)\".") }
        return text
    }

    /// Takes the parts of an address; nil if it is none of a browser.
    public init?(_ token: DeviceToken) {
        guard let keys = token.details?.webPushKeys else { return nil }
        endpoint = token.text(for: .webPush)
        expirationTime = token.details?.expiresAtMilliseconds
        p256dh = Base64URL.encode(keys.publicKey)
        auth = Base64URL.encode(keys.authenticationSecret)
    }

    /// Writes the JSON of a browser; with it, a push can be sent.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("endpoint", endpoint)
        writer.key("expirationTime")
        if let expirationTime { writer.integer(expirationTime) } else { writer.null() }
        writer.object("keys") { writer in
            writer.member("p256dh", p256dh)
            writer.member("auth", auth)
        }
        writer.endObject()
    }

    // MARK: Checks

    /// Checks the subscription, and makes it the address of a device.
    ///
    /// - Parameters:
    ///   - nowMilliseconds: the time, which the end must lie behind.
    ///   - hosts: to which hosts pushes go; nil does not check the endpoint's.
    /// - Returns: the address.
    /// - Throws: `PlatformTokenError` that says which part is wrong, without the endpoint and the keys.
    public func token(nowMilliseconds: Int64, hosts: PushHostRule? = nil) throws(PlatformTokenError) -> DeviceToken {
        let bytes = Array(endpoint.utf8)
        if let problem = AddressRules.problem(ofEndpoint: bytes) ?? hosts?.problem(ofEndpoint: bytes) {
            throw PlatformTokenError("its \"endpoint\" is refused: \(problem).")
        }
        let secret = try Self.bytes(auth, "keys.auth", count: WebPushKeys.authenticationSecretBytes)
        let point = try Self.point(p256dh, "keys.p256dh")
        if let expirationTime, expirationTime <= nowMilliseconds {
            throw PlatformTokenError(
                "it ended at \(WallTime.text(milliseconds: expirationTime)); the page must subscribe again.")
        }
        guard let keys = WebPushKeys(publicKey: point, authenticationSecret: secret),
            let token = DeviceToken(
                text: Array(endpoint.utf8),
                details: PushAddressDetails(webPushKeys: keys, expiresAtMilliseconds: expirationTime))
        else { throw PlatformTokenError("it is no subscription of a browser.") }
        return token
    }

    /// Checks the key that a page subscribed with: a push service takes messages only from who has its private half.
    ///
    /// - Parameters:
    ///   - text: `applicationServerKey` of the page, in base64.
    ///   - known: the public keys that messages are signed with; if there are none, only the form is checked.
    /// - Throws: `PlatformTokenError`.
    public static func checkApplicationServerKey(
        _ text: String, known: [[UInt8]]
    ) throws(PlatformTokenError) {
        let key = try point(text, nil)
        guard known.isEmpty || known.contains(key) else {
            throw PlatformTokenError(
                "the page subscribed with a key that messages of this app are not signed with; it must use the app's.")
        }
    }

    /// Reads a point of P-256.
    private static func point(_ text: String, _ name: String?) throws(PlatformTokenError) -> [UInt8] {
        let point = try bytes(text, name, count: WebPushKeys.publicKeyBytes)
        let subject = name.map { "its \"\($0)\"" } ?? "it"
        guard point.first == 0x04 else {
            throw PlatformTokenError("\(subject) must be an uncompressed point, which begins with the byte 04.")
        }
        do throws(CryptoError) {
            _ = try ES256PublicKey(point: point)
        } catch {
            throw PlatformTokenError("\(subject) is no point of the curve P-256.")
        }
        return point
    }

    /// Reads bytes in base64 of either alphabet, with or without padding.
    private static func bytes(_ text: String, _ name: String?, count: Int) throws(PlatformTokenError) -> [UInt8] {
        let subject = name.map { "its \"\($0)\"" } ?? "it"
        var digits = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        // Padding fills up a group of four digits.
        if digits.count % 4 == 0 {
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        guard let bytes = Base64URL.decode(String(decoding: digits, as: UTF8.self)) else {
            throw PlatformTokenError("\(subject) is no base64url.")
        }
        guard bytes.count == count else {
            throw PlatformTokenError("\(subject) must have \(count) bytes, and it has \(bytes.count).")
        }
        return bytes
    }
}
