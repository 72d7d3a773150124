internal import Crypto
public import PushLibrary
internal import ServiceClient
internal import WebPushTransport

/// The key pair by which an application server identifies itself to push services (VAPID, RFC 8292).
///
/// A browser binds a subscription to the public half, so a new key makes every subscription useless. The private half
/// never prints.
public struct VAPIDKey: Sendable, CustomStringConvertible, CustomReflectable {
    let key: VAPIDSigningKey

    /// Reads a key.
    ///
    /// - Parameter text: PEM text (PKCS#8 or `EC PRIVATE KEY`), or the private key of 32 bytes in base64url, as
    ///   `web-push generate-vapid-keys` prints it.
    /// - Throws: `PushError` (`keyInvalid`), without any part of the text.
    public init(_ text: String) throws(PushError) {
        do throws(VAPIDError) { key = try VAPIDSigningKey(reading: Array(text.utf8)) } catch {
            throw PushError(.keyInvalid, error.message)
        }
    }

    /// Reads a key from a file, in either form; keep its mode 600.
    ///
    /// - Throws: `PushError` (`keyInvalid`) if the file cannot be read, or holds no such key.
    public init(file path: String) throws(PushError) {
        do throws(ServiceError) { key = try VAPIDSigningKey(path: path) } catch { throw PushError(error) }
    }

    private init(_ key: ES256PrivateKey) { self.key = VAPIDSigningKey(key) }

    /// Makes a new key; keep its `pem`.
    ///
    /// - Throws: `PushError` (`systemFailed`) if the system has no random numbers.
    public static func generate() throws(PushError) -> VAPIDKey {
        do throws(CryptoError) { return VAPIDKey(try ES256PrivateKey.generate()) } catch {
            throw PushError(.systemFailed, "no key could be made: \(error.message)")
        }
    }

    /// The public half, which a page passes to `PushManager.subscribe` as `applicationServerKey`.
    ///
    /// It is a point in base64url, 87 characters, and no secret.
    public var applicationServerKey: String { key.publicKeyText }

    /// The key pair as PEM text, a secret.
    public var pem: String { key.signingKey.pem }

    /// The public half.
    public var description: String { key.description }

    /// Shows the public half alone.
    public var customMirror: Mirror { Mirror(self, children: ["applicationServerKey": applicationServerKey]) }
}
