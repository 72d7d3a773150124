public import Crypto
import Essentials
public import ServiceClient

/// The key with which an application server signs its tokens (RFC 8292 section 2: ECDSA on P-256).
///
/// A browser binds a subscription to the public half, the `applicationServerKey` (RFC 8292 section 4). So a new key
/// makes every subscription useless. It must be another key than those that encrypt messages, as `MessageEncryptor`
/// makes them (RFC 8292 section 3.2).
public struct VAPIDSigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key itself.
    public let signingKey: ES256PrivateKey
    /// The public half as browsers and push services get it: the uncompressed point in base64url, 87 characters.
    public let publicKeyText: String

    /// Takes a key that is there.
    public init(_ signingKey: ES256PrivateKey) {
        self.signingKey = signingKey
        publicKeyText = Base64URL.encode(signingKey.publicPoint)
    }

    /// Reads a key in any of the forms that tools write.
    ///
    /// | form | written by |
    /// |---|---|
    /// | PEM text (PKCS#8 or `EC PRIVATE KEY`) | openssl |
    /// | the scalar of 32 bytes in base64url or base64, with padding or without | many libraries |
    /// | `{"publicKey":"…","privateKey":"…"}` | `web-push generate-vapid-keys --json` |
    /// | `Public Key:` and `Private Key:`, each with a line | `web-push generate-vapid-keys` |
    ///
    /// White space and quotes around it, and a byte order mark, do not matter.
    ///
    /// - Parameter bytes: the content of a file.
    /// - Throws: `VAPIDError` with `keyInvalid`; its message has no part of the text.
    public init(reading bytes: [UInt8]) throws(VAPIDError) {
        let pair = try VAPIDKeyText(bytes)
        do throws(CryptoError) {
            switch pair.privateHalf {
            case .pem(let pem): self.init(try ES256PrivateKey(pem: pem))
            case .scalar(let scalar): self.init(try ES256PrivateKey(rawScalar: scalar))
            }
        } catch {
            throw VAPIDError(.keyInvalid, "the VAPID key cannot be used: \(error.message)")
        }
        guard pair.publicHalf.map({ $0 == publicKeyText }) ?? true else {
            throw VAPIDError(
                .keyInvalid, "the VAPID key cannot be used: the public key beside it is not its public half")
        }
    }

    /// The public half.
    public var description: String { "VAPID key \(publicKeyText)" }
    /// A mirror without the private half.
    public var customMirror: Mirror { Mirror(self, children: ["publicKeyText": publicKeyText]) }
}

extension VAPIDSigningKey {
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
