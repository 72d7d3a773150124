public import Essentials
public import Notifications

/// One installation of an app that can be pushed to.
public struct Device: Hashable, Sendable {
    /// The name that the backend or the registry gave to the device, 1 to 256 bytes; unique in the registry.
    @ByBytes public var deviceID: String
    /// The push service and environment of the token.
    public var platform: Platform
    /// Where the push service reaches the device.
    public var token: DeviceToken
    /// The name of the app, as in the configuration's `[[app]]`.
    public var app: String
    /// The Cognito identity pool of the identity, if the device has an identity.
    public var identityPoolID: String?
    /// The identity that uses the device.
    public var identityID: String?
    /// The backend's own name of the user.
    @ByBytes public var userID: String?
    /// When the token was last registered, in milliseconds since 1970: a token is pruned only if APNs found it dead
    /// after this.
    public var registeredAtMilliseconds: Int64

    /// Creates a device from its parts.
    public init(
        deviceID: String, platform: Platform, token: DeviceToken, app: String, identityPoolID: String? = nil,
        identityID: String? = nil, userID: String? = nil, registeredAtMilliseconds: Int64
    ) {
        self.deviceID = deviceID
        self.platform = platform
        self.token = token
        self.app = app
        self.identityPoolID = identityPoolID
        self.identityID = identityID
        self.userID = userID
        self.registeredAtMilliseconds = WallTime(milliseconds: registeredAtMilliseconds).milliseconds
    }
}
