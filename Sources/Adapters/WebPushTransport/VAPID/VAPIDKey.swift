public import Crypto
import Essentials
public import ServiceClient

/// The key with which an application server signs its tokens (RFC 8292 section 2: ECDSA on P-256).
///
/// A browser binds a subscription to the public half, the `applicationServerKey` (RFC 8292 section 4). So a new key
/// makes every subscription useless. It must be another key than those that encrypt messages, as `MessageEncryptor`
/// makes them (RFC 8292 section 3.2).
public struct VAPIDKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key itself.
    public let signingKey: ES256PrivateKey
    /// The public half as browsers and push services get it: the uncompressed point in base64url, 87 characters.
    public let publicKeyText: String

    private static let scalarBytes = 32

    /// Takes a key that is there.
    public init(_ signingKey: ES256PrivateKey) {
        self.signingKey = signingKey
        publicKeyText = Base64URL.encode(signingKey.publicPoint)
    }

    /// Reads a key in either of the forms that tools write.
    ///
    /// - Parameter bytes: the content of a file: PEM text (PKCS#8 or `EC PRIVATE KEY`), or the scalar of 32 bytes in
    ///   base64url. White space around it, and padding, do not matter.
    /// - Throws: `VAPIDError` with `keyInvalid`; its message has no part of the text.
    public init(reading bytes: [UInt8]) throws(VAPIDError) {
        let isPEM = String(decoding: bytes, as: UTF8.self).contains("-----BEGIN")
        let scalar = isPEM ? [] : try Self.scalar(in: bytes)
        do throws(CryptoError) {
            self.init(isPEM ? try ES256PrivateKey(pem: bytes) : try ES256PrivateKey(rawScalar: scalar))
        } catch {
            throw VAPIDError(.keyInvalid, "the VAPID key cannot be used: \(error.message)")
        }
    }

    private static func scalar(in bytes: [UInt8]) throws(VAPIDError) -> [UInt8] {
        let digits = bytes.drop(while: isWhitespace).reversed().drop(while: isWhitespace)
            .drop { $0 == UInt8(ascii: "=") }.reversed()
        let expectation = "give PEM text, or the private key of \(scalarBytes) bytes in base64url (43 characters)"
        guard !digits.isEmpty else { throw VAPIDError(.keyInvalid, "the VAPID key is empty; \(expectation)") }
        guard let decoded = Base64URL.decode(String(decoding: digits, as: UTF8.self)) else {
            throw VAPIDError(.keyInvalid, "the VAPID key is neither PEM text nor base64url; \(expectation)")
        }
        guard decoded.count == scalarBytes else {
            let isPublic = decoded.count == P256KeyPair.publicPointBytes && decoded[0] == 4
            throw VAPIDError(
                .keyInvalid,
                "the VAPID key has \(decoded.count) bytes\(isPublic ? ", as a public key has" : ""); \(expectation)")
        }
        return decoded
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The public half.
    public var description: String { "VAPID key \(publicKeyText)" }
    /// A mirror without the private half.
    public var customMirror: Mirror { Mirror(self, children: ["publicKeyText": publicKeyText]) }
}

extension VAPIDKey {
    /// Reads the file with the key of an app.
    ///
    /// - Parameter path: the file.
    /// - Throws: `ServiceError` with `keyUnreadable` or `keyInvalid`, as `CredentialFile` and `init(reading:)`.
    public init(path: String) throws(ServiceError) {
        let file = try CredentialFile(path: path, expected: "the file with the VAPID key")
        do throws(VAPIDError) {
            try self.init(reading: file.bytes)
        } catch {
            throw ServiceError(.keyInvalid, "\(path): \(error.message)")
        }
    }
}
