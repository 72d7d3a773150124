public import Essentials
public import Notifications

/// A token that a device has beside its alert token.
public struct FurtherToken: Hashable, Sendable {
    /// The device.
    @ByBytes public var deviceID: String
    /// Which of its tokens it is; never `alert`, which is the device's own.
    public var kind: TokenKind
    /// The token.
    public var token: DeviceToken
    /// When it was last registered, in milliseconds since 1970: it is pruned only if APNs found it dead after this.
    public var registeredAtMilliseconds: Int64

    /// Creates a token.
    public init(deviceID: String, kind: TokenKind, token: DeviceToken, registeredAtMilliseconds: Int64) {
        self.deviceID = deviceID
        self.kind = kind
        self.token = token
        self.registeredAtMilliseconds = registeredAtMilliseconds
    }
}

/// What the registry knows of a token that somebody names by its digits.
public struct RegisteredToken: Hashable, Sendable {
    /// The token.
    public var token: DeviceToken
    /// What it is registered as.
    public var kind: TokenKind
    /// The platform of its device.
    public var platform: Platform

    /// Creates a value.
    public init(token: DeviceToken, kind: TokenKind, platform: Platform) {
        self.token = token
        self.kind = kind
        self.platform = platform
    }
}
