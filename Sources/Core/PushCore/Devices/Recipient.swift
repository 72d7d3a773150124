public import Essentials
public import Notifications

/// A device as a push needs it: where it is reached, and what it is called when its push must be parked.
///
/// It leaves out what a `Device` has besides, because every push of a fan-out carries one.
public struct Recipient: Hashable, Sendable {
    /// The name of the device in the registry; for a token that no device has, the token's hexadecimal digits.
    @ByBytes public var deviceID: String
    /// The push service and environment of the token.
    public var platform: Platform
    /// Where the push service reaches the device.
    public var token: DeviceToken
    /// The name of the app.
    public var app: String

    /// Creates a recipient from its parts.
    public init(deviceID: String, platform: Platform, token: DeviceToken, app: String) {
        self.deviceID = deviceID
        self.platform = platform
        self.token = token
        self.app = app
    }

    /// What a push needs of a registered device.
    public init(_ device: Device) {
        self.init(deviceID: device.deviceID, platform: device.platform, token: device.token, app: device.app)
    }
}

extension Recipient {
    /// Makes up a device for a token that the registry does not have, so that it can be pushed to.
    ///
    /// Its `deviceID` is the token in lowercase hexadecimal digits, its platform is Apple's production environment.
    public init(unregistered token: DeviceToken, app: String) {
        self.init(deviceID: token.hexadecimal, platform: .apns, token: token, app: app)
    }

    /// Whether it is one that was made up, or a device that is named as such a one would be.
    public var mayBeUnregistered: Bool {
        deviceID.utf8.count == 2 * token.bytes.count && deviceID == token.hexadecimal
    }
}
