public import Essentials
public import Notifications

/// The addressees of a push.
public enum Audience: Hashable, Sendable {
    /// The devices of an identity that subscribed to one of its datasets.
    case dataset(DatasetKey)
    /// Devices by their identifiers, of one app.
    case devices([String], app: String)
    /// Devices by their tokens, of one app; a token that is not registered is pushed to as well.
    case tokens([DeviceToken], app: String)
    /// All devices of these identities, of one app.
    case identities([String], app: String)
    /// All devices of these users, of one app.
    case users([String], app: String)
    /// The devices that subscribed to a topic of one app.
    case topic(String, app: String)

    /// Whether two audiences are the same, their names having the same bytes.
    public static func == (left: Audience, right: Audience) -> Bool {
        switch (left, right) {
        case (.dataset(let left), .dataset(let right)): left == right
        case (.devices(let left, let leftApp), .devices(let right, let rightApp)),
            (.identities(let left, let leftApp), .identities(let right, let rightApp)),
            (.users(let left, let leftApp), .users(let right, let rightApp)):
            left.comparedByBytes == right.comparedByBytes && leftApp.hasBytes(of: rightApp)
        case (.tokens(let left, let leftApp), .tokens(let right, let rightApp)):
            left == right && leftApp.hasBytes(of: rightApp)
        case (.topic(let left, let leftApp), .topic(let right, let rightApp)):
            left.hasBytes(of: right) && leftApp.hasBytes(of: rightApp)
        case (.dataset, _), (.devices, _), (.identities, _), (.users, _), (.tokens, _), (.topic, _): false
        }
    }

    /// Hashes what names the audience.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .dataset(let key): hasher.combine(key)
        case .devices(let names, let app), .identities(let names, let app), .users(let names, let app):
            hasher.combine(names.comparedByBytes)
            hasher.combine(ByteText(app))
        case .tokens(let tokens, let app):
            hasher.combine(tokens)
            hasher.combine(ByteText(app))
        case .topic(let topic, let app):
            hasher.combine(ByteText(topic))
            hasher.combine(ByteText(app))
        }
    }
}

/// One question to the registry: an audience, or the part of it that is still to be served.
public struct AudienceRequest: Hashable, Sendable {
    /// The audience to find.
    public var audience: Audience
    /// The device that made the change and is left out.
    public var excludedDeviceID: String?
    /// If given, only these devices of the audience, for a retry.
    public var onlyDeviceIDs: [String]?
    /// Where the last page ended; nil for the first.
    public var cursor: AudienceCursor?
    /// The last position that is asked for; nil for the end of the audience.
    public var through: AudienceCursor?
    /// If given, only devices that were in the audience before the fan-out of this number began.
    ///
    /// It does not apply to audiences that are a list of devices or tokens, which the event itself gives.
    public var asOfFanOut: Int64?

    /// Creates a request for the first page of a whole audience, unless told otherwise.
    public init(
        audience: Audience, excludedDeviceID: String? = nil, onlyDeviceIDs: [String]? = nil,
        cursor: AudienceCursor? = nil, through: AudienceCursor? = nil, asOfFanOut: Int64? = nil
    ) {
        self.audience = audience
        self.excludedDeviceID = excludedDeviceID
        self.onlyDeviceIDs = onlyDeviceIDs
        self.cursor = cursor
        self.through = through
        self.asOfFanOut = asOfFanOut
    }
}

/// Where a page of an audience ended: a position that survives a restart and a change of worker.
public struct AudienceCursor: Hashable, Sendable {
    /// A row of the registry, or an index into the event's own list.
    ///
    /// Its meaning is the registry's.
    public var position: Int64
    /// The subscription that `position` is a device of; 0 if the audience is not one of subscriptions.
    public var subscription: Int64

    /// Creates a cursor; a negative number, which no registry gives, counts as 0.
    public init(position: Int64, subscription: Int64 = 0) {
        self.position = max(0, position)
        self.subscription = max(0, subscription)
    }
}

/// Some of the devices of an audience, and where the next ones begin.
public struct AudiencePage: Hashable, Sendable {
    /// The devices, each once.
    public var devices: [Recipient]
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?
    /// Whether the devices subscribed to a dataset by its name, so that the registry knows the dataset.
    ///
    /// It is false for an empty page, for a retry that names its devices, and for audiences that are no dataset.
    public var isOfKnownDataset = false

    /// Creates a page.
    public init(devices: [Recipient], next: AudienceCursor? = nil) {
        self.devices = devices
        self.next = next
    }
}

/// How many devices a part of an audience has, and where the next part begins.
public struct AudienceExtent: Hashable, Sendable {
    /// How many devices there are.
    public var deviceCount: Int
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?

    /// Describes a part.
    public init(deviceCount: Int, next: AudienceCursor? = nil) {
        self.deviceCount = deviceCount
        self.next = next
    }
}

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
    /// Whose device it is; nil if it was not asked for, which only backends that hear of their pushes need.
    public var owner: DeviceOwner?

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

/// The identity and the user of a device, for what backends are told of its pushes.
///
/// It is an object, so that a recipient has room for it at little cost.
public final class DeviceOwner: Hashable, Sendable {
    /// The identity; nil if it has none.
    public let identityID: String?
    /// The user; nil if it has none.
    public let userID: String?

    /// Creates an owner; nil if a device has neither.
    public init?(identityID: String?, userID: String?) {
        guard identityID != nil || userID != nil else { return nil }
        self.identityID = identityID
        self.userID = userID
    }

    /// Whether both names are the same.
    public static func == (left: DeviceOwner, right: DeviceOwner) -> Bool {
        left === right || left.identityID == right.identityID && left.userID == right.userID
    }

    /// Hashes both names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identityID)
        hasher.combine(userID)
    }
}

extension Recipient {
    /// Makes up a device for a token that the registry does not have, so that it can be pushed to.
    ///
    /// Its `deviceID` is the token in lowercase hexadecimal digits, its platform is Apple's production environment.
    public init(unregistered token: DeviceToken, app: String) {
        self.init(deviceID: token.hexadecimal, platform: .apns, token: token, app: app)
    }

    /// Stands for a wrong entry of an event's target where a backend is told of it; nothing is ever sent to it.
    ///
    /// Like a token that is not registered, it counts as a device of Apple's production environment.
    init(refusedEntry name: String, app: String) {
        self.init(deviceID: name, platform: .apns, token: .ofNoDevice, app: app)
    }

    /// Whether it is one that was made up, or a device that is named as such a one would be.
    public var mayBeUnregistered: Bool {
        deviceID.utf8.count == 2 * token.bytes.count && deviceID == token.hexadecimal
    }
}
