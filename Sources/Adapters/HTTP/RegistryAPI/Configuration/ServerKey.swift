import Crypto
public import RegistryCore

/// A key with which a server signs its requests to CloudKit Web Services: we have its public half.
public struct ServerKey: Sendable {
    /// The public part, which each request bears.
    public let identifier: String
    /// The app whose container it opens.
    public let app: String
    /// The permission of the key.
    public let permission: APIToken.Permission
    /// The user on whose behalf its requests are.
    public let userID: String
    let publicKey: ES256PublicKey

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - identifier: the public part, which each request bears.
    ///   - publicKeyPEM: the public half, an elliptic curve key of P-256 as PEM text.
    ///   - app: the app whose container it opens.
    ///   - permission: the permission.
    ///   - userID: the user on whose behalf its requests are.
    /// - Throws: `RegistryServerError` with `serverKeyInvalid` if the text holds no such key.
    public init(
        identifier: String, publicKeyPEM: [UInt8], app: String, permission: APIToken.Permission, userID: String
    ) throws(RegistryServerError) {
        self.identifier = identifier
        self.app = app
        self.permission = permission
        self.userID = userID
        do throws(CryptoError) {
            publicKey = try ES256PublicKey(pem: publicKeyPEM)
        } catch {
            throw RegistryServerError(
                .serverKeyInvalid, "the server key \(identifier) cannot be used: \(error.message)")
        }
    }
}
