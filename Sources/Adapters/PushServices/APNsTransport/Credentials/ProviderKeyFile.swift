public import Crypto
public import ServiceClient

/// Reads the file in which Apple hands out a signing key (`AuthKey_….p8`).
public enum ProviderKeyFile {
    /// A key, and the warnings about its file.
    public struct Content: Sendable {
        /// The key.
        public let key: ES256PrivateKey
        /// A sentence for the operator if others on the machine may read the file; nil if all is well.
        public let warning: String?
    }

    /// Reads a key.
    ///
    /// - Parameter path: the file.
    /// - Returns: the key.
    /// - Throws: `ServiceError` with `keyUnreadable` (missing, a folder, no permission) or `keyInvalid` (empty, too
    ///   large, no key, a key of another kind).
    public static func read(path: String) throws(ServiceError) -> Content {
        let file = try CredentialFile(path: path, expected: "the .p8 file from Apple")
        do throws(CryptoError) {
            return Content(key: try ES256PrivateKey(pem: file.bytes), warning: file.warning)
        } catch {
            throw ServiceError(.keyInvalid, "\(path) holds no usable key: \(error.message)")
        }
    }
}
