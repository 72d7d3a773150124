internal import Notifications
public import PushLibrary

/// One installation of an app: its registration token, or its Firebase installation ID.
///
/// Its description shows only a part, because a whole one in a log lets its reader push to the device.
public struct FCMTarget: Hashable, Sendable, CustomStringConvertible {
    /// The two kinds, which FCM takes in members of their own.
    public enum Kind: Hashable, Sendable {
        /// A registration token (`token`).
        case token
        /// A Firebase installation ID (`fid`).
        case fid
    }

    let deviceToken: DeviceToken

    /// Takes a registration token, as `FirebaseMessaging.getToken` gives it to an app.
    ///
    /// - Throws: `PushError` (`tokenInvalid`) if it is empty, has more than 2,048 bytes, or is no printable ASCII.
    public init(token: String) throws(PushError) { deviceToken = try Self.read(token, nil) }

    /// Takes a Firebase installation ID, as `FirebaseInstallations.getId` gives it to an app.
    ///
    /// - Throws: `PushError` (`tokenInvalid`) as for a token.
    public init(fid: String) throws(PushError) {
        deviceToken = try Self.read(fid, PushAddressDetails(isInstallationID: true))
    }

    init(_ deviceToken: DeviceToken) { self.deviceToken = deviceToken }

    private static func read(_ text: String, _ details: PushAddressDetails?) throws(PushError) -> DeviceToken {
        guard let token = DeviceToken(text: Array(text.utf8), details: details) else {
            throw PushError(
                .tokenInvalid,
                "a text of \(text.utf8.count) bytes is no target: it must be 1 to \(DeviceToken.textBytesMaximum) "
                    + "characters of printable ASCII without blanks")
        }
        return token
    }

    /// The kind.
    public var kind: Kind { deviceToken.details?.isInstallationID == true ? .fid : .token }

    /// The whole text; never for a log.
    public var value: String { deviceToken.text(for: .gcm) }

    /// The beginning and the length.
    public var description: String { deviceToken.excerpt(for: .gcm) }
}
