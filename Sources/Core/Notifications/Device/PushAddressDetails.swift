/// The details that a push to a device needs besides its token.
public final class PushAddressDetails: Hashable, Sendable {
    /// The keys of a Web Push subscription.
    public let webPushKeys: WebPushKeys?
    /// Whether the token is a Firebase installation ID, which FCM takes as `fid` in place of `token`.
    public let isInstallationID: Bool
    /// When the address ends, in milliseconds since 1970: `expirationTime` of a Web Push subscription.
    public let expiresAtMilliseconds: Int64?
    /// When a Web Push subscription was registered, in milliseconds since 1970, as far as the registry has said it.
    ///
    /// Two details that differ in nothing else are equal: it tells how far an answer can be trusted, and not where to
    /// push.
    public let registeredAtMilliseconds: Int64?

    /// Creates details.
    public init(
        webPushKeys: WebPushKeys? = nil, isInstallationID: Bool = false, expiresAtMilliseconds: Int64? = nil,
        registeredAtMilliseconds: Int64? = nil
    ) {
        self.webPushKeys = webPushKeys
        self.isInstallationID = isInstallationID
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.registeredAtMilliseconds = registeredAtMilliseconds
    }

    /// Whether both say the same, the time of registration aside.
    public static func == (left: PushAddressDetails, right: PushAddressDetails) -> Bool {
        left.webPushKeys == right.webPushKeys && left.isInstallationID == right.isInstallationID
            && left.expiresAtMilliseconds == right.expiresAtMilliseconds
    }

    /// Feeds what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(webPushKeys)
        hasher.combine(isInstallationID)
        hasher.combine(expiresAtMilliseconds)
    }
}

/// The keys that a browser made for one subscription, with which its messages are encrypted (RFC 8291 §3.1).
///
/// This type checks only the sizes. The registry's API checks that the point lies on the curve.
public struct WebPushKeys: Hashable, Sendable {
    /// The size of the public key: an uncompressed point of P-256.
    public static let publicKeyBytes = 65
    /// The size of the authentication secret.
    public static let authenticationSecretBytes = 16

    /// `p256dh`: the browser's public key.
    public let publicKey: [UInt8]
    /// `auth`: the authentication secret.
    public let authenticationSecret: [UInt8]

    /// Accepts keys of the right sizes, or answers nil.
    public init?(publicKey: [UInt8], authenticationSecret: [UInt8]) {
        guard publicKey.count == Self.publicKeyBytes, publicKey.first == 0x04,
            authenticationSecret.count == Self.authenticationSecretBytes
        else { return nil }
        self.publicKey = publicKey
        self.authenticationSecret = authenticationSecret
    }
}
