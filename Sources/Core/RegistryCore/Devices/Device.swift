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

extension Device {
    /// Its values that are texts, by the names that they have in JSON: in the API, and in what commands read and write.
    ///
    /// - Parameter text: the printable part of the token; nil to leave it out.
    /// - Returns: the values that there are. `target` says what FCM takes the token for.
    public func texts(token text: String?) -> [(name: StaticString, value: String)] {
        let target = token.details?.isInstallationID == true ? "fid" : "token"
        let all: [(StaticString, String?)] = [
            ("deviceId", deviceID), ("platform", platform.rawValue), ("token", text),
            ("target", platform == .gcm ? target : nil), ("app", app), ("identityPoolId", identityPoolID),
            ("identityId", identityID), ("userId", userID),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

/// A device together with its further tokens and its subscriptions, as an import brings it.
public struct DeviceRegistration: Hashable, Sendable {
    /// The device.
    public var device: Device
    /// Datasets of its identity to subscribe to, beside those it has.
    public var datasetNames: [String]
    /// Topics of its app to subscribe to, beside those it has.
    @ByBytes public var topics: [String]
    /// Tokens beside its alert token, registered with the device; those of other kinds stay.
    public var tokens: [TokenKind: DeviceToken]

    /// Creates a registration.
    public init(
        device: Device, datasetNames: [String] = [], topics: [String] = [], tokens: [TokenKind: DeviceToken] = [:]
    ) {
        self.device = device
        self.datasetNames = datasetNames
        self.topics = topics
        self.tokens = tokens
    }

    /// The tokens with their device and moment, sorted by kind.
    public var furtherTokens: [FurtherToken] {
        tokens.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, token in
            FurtherToken(
                deviceID: device.deviceID, kind: kind, token: token,
                registeredAtMilliseconds: device.registeredAtMilliseconds)
        }
    }
}

/// Which devices to list; the parts that are given must all hold.
public struct DeviceFilter: Hashable, Sendable {
    /// Only this app's devices.
    public var app: String?
    /// Only this identity's devices.
    public var identityID: String?
    /// Only this user's devices.
    public var userID: String?

    /// Creates a filter; without arguments it lets every device through.
    public init(app: String? = nil, identityID: String? = nil, userID: String? = nil) {
        self.app = app
        self.identityID = identityID
        self.userID = userID
    }
}

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

/// The registration of a token, which is named by its digits.
public struct RegisteredToken: Hashable, Sendable {
    /// The token.
    public var token: DeviceToken
    /// The kind of the registration.
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

/// A token that the push service will never deliver to again, named as exactly as the service spoke of it: the topic
/// (app and kind), the environment, and the token.
///
/// An answer about one topic or environment does not concern another, so nothing else is removed.
public struct DeadToken: Hashable, Sendable {
    /// The app, by its name.
    public var app: String
    /// The push service and environment that was asked.
    public var platform: Platform
    /// The kind of token that the topic of the push is for.
    public var kind: TokenKind
    /// The token; a device that has another one by now is left alone.
    public var token: DeviceToken
    /// Since when the service has known it, in milliseconds since 1970; nil if it did not say.
    ///
    /// A token that was registered at or after this moment is left alone.
    public var deadSinceMilliseconds: Int64?
    /// The token that the service has put in its place; nil if there is none.
    ///
    /// It differs from `token`. Only alert tokens have one.
    public var successor: DeviceToken?

    /// Creates a dead token.
    public init(
        app: String, platform: Platform, kind: TokenKind, token: DeviceToken, deadSinceMilliseconds: Int64?,
        successor: DeviceToken? = nil
    ) {
        self.app = app
        self.platform = platform
        self.kind = kind
        self.token = token
        self.deadSinceMilliseconds = deadSinceMilliseconds
        self.successor = successor
    }
}

/// The datasets that a device is subscribed to.
public struct DatasetSubscriptions: Hashable, Sendable {
    /// The names of the datasets, sorted.
    public var datasetNames: [String]
    /// Whether datasets that the identity gets later count too.
    public var includesFuture: Bool

    /// Creates a value.
    public init(datasetNames: [String], includesFuture: Bool) {
        self.datasetNames = datasetNames
        self.includesFuture = includesFuture
    }
}

/// What belongs to a device, subscriptions to topics and records aside.
public struct DeviceDetails: Hashable, Sendable {
    /// The datasets that it is subscribed to.
    public var datasets = DatasetSubscriptions(datasetNames: [], includesFuture: false)
    /// Its tokens beside its alert token, sorted by kind.
    public var tokens: [FurtherToken] = []
    /// The number on its icon.
    public var badge: Int

    /// Creates a value.
    public init(badge: Int) { self.badge = badge }
}
