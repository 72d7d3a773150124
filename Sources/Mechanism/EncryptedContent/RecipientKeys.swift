public import Crypto

/// The public side of a recipient: its public key and its authentication secret (RFC 8291 sections 3.1 and 3.2).
public struct RecipientKeys: Sendable, Hashable {
    /// The length of an authentication secret (RFC 8291 section 3.2).
    public static let authenticationSecretBytes = 16

    /// The public key as an uncompressed point of P-256: 65 bytes.
    public let publicPoint: [UInt8]
    /// The authentication secret: 16 bytes, which only the recipient and its senders know.
    public let authenticationSecret: [UInt8]

    /// Combines the two values.
    ///
    /// This does not look whether the point lies on the curve: `requireValidPoint` does, and so does every encryption.
    ///
    /// - Parameters:
    ///   - publicPoint: 65 bytes, the first of them 4.
    ///   - authenticationSecret: 16 bytes.
    /// - Throws: `EncryptedContentError` with `recipientInvalid` if one has another length or form.
    public init(publicPoint: [UInt8], authenticationSecret: [UInt8]) throws(EncryptedContentError) {
        guard publicPoint.count == P256KeyPair.publicPointBytes, publicPoint[0] == 4 else {
            let first = publicPoint.first.map { ", the first of them \($0)" } ?? ""
            throw EncryptedContentError(
                .recipientInvalid,
                "the recipient's public key has \(publicPoint.count) bytes\(first); an uncompressed point of P-256 has "
                    + "\(P256KeyPair.publicPointBytes), the first of them 4 (RFC 8291 section 3.1)")
        }
        guard authenticationSecret.count == Self.authenticationSecretBytes else {
            throw EncryptedContentError(
                .recipientInvalid,
                "the recipient's authentication secret has \(authenticationSecret.count) bytes; "
                    + "it must have \(Self.authenticationSecretBytes) (RFC 8291 section 3.2)")
        }
        self.publicPoint = publicPoint
        self.authenticationSecret = authenticationSecret
    }

    /// Refuses a public key that is not on the curve, so that it is found before a message is encrypted for it.
    ///
    /// - Throws: `EncryptedContentError` with `recipientInvalid`.
    public func requireValidPoint() throws(EncryptedContentError) {
        do throws(CryptoError) {
            try P256KeyPair.requireValidPoint(publicPoint)
        } catch {
            throw EncryptedContentError(error, key: .recipientInvalid)
        }
    }
}

/// The secret side of a recipient, which decrypts.
public struct RecipientKeyPair: Sendable {
    /// The key pair.
    public let keyPair: P256KeyPair
    /// The public side of the recipient, which senders know.
    public let publicKeys: RecipientKeys

    /// Combines a key pair and the authentication secret.
    ///
    /// - Parameters:
    ///   - keyPair: the key pair.
    ///   - authenticationSecret: 16 bytes.
    /// - Throws: `EncryptedContentError` with `recipientInvalid` if the secret has another length.
    public init(keyPair: P256KeyPair, authenticationSecret: [UInt8]) throws(EncryptedContentError) {
        self.keyPair = keyPair
        publicKeys = try RecipientKeys(publicPoint: keyPair.publicPoint, authenticationSecret: authenticationSecret)
    }

    /// Makes a new recipient.
    ///
    /// - Throws: `EncryptedContentError` with `libraryFailed` if the system has no random numbers.
    public static func generate() throws(EncryptedContentError) -> RecipientKeyPair {
        let keyPair: P256KeyPair
        let secret: [UInt8]
        do throws(CryptoError) {
            keyPair = try .generate()
            secret = try RandomBytes.make(count: RecipientKeys.authenticationSecretBytes)
        } catch {
            throw EncryptedContentError(error, key: .libraryFailed)
        }
        return try RecipientKeyPair(keyPair: keyPair, authenticationSecret: secret)
    }
}
