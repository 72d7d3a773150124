public import Notifications

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
