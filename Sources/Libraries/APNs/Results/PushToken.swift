import Notifications
public import PushLibrary

/// The address that APNs gave to one installation of an app: bytes of any length up to 256, today 32.
///
/// Its description shows only the first four bytes, because a whole token in a log lets its reader push to the device.
public struct PushToken: Hashable, Sendable, CustomStringConvertible {
    let deviceToken: DeviceToken

    /// Reads hexadecimal digits of either case, as apps usually send them to their server.
    ///
    /// - Throws: `PushError` (`tokenInvalid`) if they are odd in number, no digits, none or too many.
    public init(_ hexadecimal: some StringProtocol) throws(PushError) {
        guard let token = DeviceToken(hexadecimal: hexadecimal) else {
            throw PushError(
                .tokenInvalid,
                "a text of \(hexadecimal.utf8.count) bytes is no device token: it must be "
                    + DeviceToken.requirement(brokenBy: String(hexadecimal)))
        }
        deviceToken = token
    }

    /// Takes the bytes that `didRegisterForRemoteNotificationsWithDeviceToken` gives to an app.
    ///
    /// - Throws: `PushError` (`tokenInvalid`) if there are none or too many.
    public init(bytes: some Sequence<UInt8>) throws(PushError) {
        let bytes = Array(bytes)
        guard let token = DeviceToken(bytes: bytes) else {
            throw PushError(
                .tokenInvalid, "\(bytes.count) bytes are no device token: it has 1 to \(DeviceToken.bytesMaximum)")
        }
        deviceToken = token
    }

    init(_ deviceToken: DeviceToken) { self.deviceToken = deviceToken }

    /// All the digits, lowercase; never for a log.
    public var hexadecimal: String { deviceToken.hexadecimal }

    /// The bytes.
    public var bytes: [UInt8] { deviceToken.bytes }

    /// The first four bytes and the length.
    public var description: String { deviceToken.description }
}
