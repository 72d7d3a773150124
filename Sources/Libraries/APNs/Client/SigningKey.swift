internal import APNsTransport
internal import Crypto

/// The signing key that Apple hands out once, as a file `AuthKey_….p8`.
///
/// It never prints.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Source: Sendable {
        case file(String)
        case pem(String)
    }

    private let source: Source

    /// The key in a file; keep its mode 600.
    public static func file(_ path: String) -> SigningKey { SigningKey(source: .file(path)) }

    /// The contents of such a file.
    public static func pem(_ text: String) -> SigningKey { SigningKey(source: .pem(text)) }

    /// What kind of source it is.
    public var description: String {
        switch source {
        case .file(let path): "the signing key in \(path)"
        case .pem: "a signing key"
        }
    }

    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    func read() throws(PushError) -> ES256PrivateKey {
        switch source {
        case .file(let path):
            do throws(APNsError) { return try ProviderKeyFile.read(path: path).key } catch { throw PushError(error) }
        case .pem(let text):
            do throws(CryptoError) {
                return try ES256PrivateKey(pem: Array(text.utf8))
            } catch {
                throw PushError(.keyInvalid, "the text is no usable signing key: \(error.message)")
            }
        }
    }
}
