public import Essentials
public import Notifications

/// The parts of a device that a push needs: its address, and its name in a requeued copy.
///
/// It leaves out the other parts of a `Device`, because every push of a fan-out carries one.
public struct Recipient: Hashable, Sendable {
    /// The name of the device in the registry; for a token that no device has, the token's hexadecimal digits.
    @ByBytes public var deviceID: String
    /// The push service and environment of the token.
    public var platform: Platform
    /// Where the push service reaches the device.
    public var token: DeviceToken
    /// The name of the app.
    public var app: String
    /// The registration behind the token; nil if there is none, or nobody asked for it, because only backends that
    /// receive outcomes need it.
    public var registration: TokenRegistration?

    /// Creates a recipient from its parts.
    public init(deviceID: String, platform: Platform, token: DeviceToken, app: String) {
        self.deviceID = deviceID
        self.platform = platform
        self.token = token
        self.app = app
    }

    /// Takes the parts that a push needs from a registered device.
    public init(_ device: Device) {
        self.init(deviceID: device.deviceID, platform: device.platform, token: device.token, app: device.app)
    }
}

/// The owner of a device and the moment of its token, for what backends are told of its pushes.
///
/// It is an object, so that a recipient has room for it at little cost.
public final class TokenRegistration: Hashable, Sendable {
    /// The identity of the device; nil if it has none.
    public let identityID: String?
    /// The user of the device; nil if it has none.
    public let userID: String?
    /// When the token was last registered, in milliseconds since 1970.
    public let atMilliseconds: Int64

    /// Creates a value.
    public init(identityID: String? = nil, userID: String? = nil, atMilliseconds: Int64) {
        self.identityID = identityID
        self.userID = userID
        self.atMilliseconds = atMilliseconds
    }

    /// Whether both say the same.
    public static func == (left: TokenRegistration, right: TokenRegistration) -> Bool {
        left === right
            || left.identityID == right.identityID && left.userID == right.userID
                && left.atMilliseconds == right.atMilliseconds
    }

    /// Hashes all of it.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identityID)
        hasher.combine(userID)
        hasher.combine(atMilliseconds)
    }
}

extension Recipient {
    /// Makes up a device for a token that the registry does not have, so that it can be pushed to.
    ///
    /// Its `deviceID` is the token in lowercase hexadecimal digits, its platform is Apple's production environment.
    public init(unregistered token: DeviceToken, app: String) {
        self.init(deviceID: token.hexadecimal, platform: .apns, token: token, app: app)
    }

    /// Stands for an entry of an event's target that has no device where a backend is told of it; nothing is ever sent
    /// to it.
    ///
    /// Like a token that is not registered, it counts as a device of Apple's production environment.
    public init(entry name: String, app: String) {
        self.init(deviceID: name, platform: .apns, token: .ofNoDevice, app: app)
    }

    /// Whether the registry removes its token when that is found dead, as far as its registration is known.
    ///
    /// - Parameter sinceMilliseconds: since when the token is dead; nil if the push service did not say.
    /// - Returns: whether it is removed.
    public func isRemoved(ifDeadSince sinceMilliseconds: Int64?) -> Bool {
        guard let registration else { return !mayBeUnregistered }
        return sinceMilliseconds.map { registration.atMilliseconds < $0 } ?? true
    }

    /// Whether it is one that was made up, or a device that is named as such a one would be.
    public var mayBeUnregistered: Bool {
        deviceID.utf8.count == 2 * token.bytes.count && deviceID == token.hexadecimal
    }
}
