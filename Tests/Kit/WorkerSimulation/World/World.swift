import ChangeEvents
import Notifications
import RegistryCore

/// The devices, identities, users, topics and subscriptions for the registry, the push service and the books.
///
/// Everything has a number, and its name says it: `d17` is the device 17 of the identity `eu:8`, whose user is `u8`. An
/// identity has two devices. The app of an identity is its number modulo the number of apps, so each app has as many.
final class World {
    struct Device {
        var app: Int
        var identity: Int
        var platform = Platform.apns
        /// Whether the registry has it.
        var isRegistered = true
        /// Whether the push service delivers to its present token.
        var isServed = true
        /// Grows when the installation gets another token.
        var tokenVersion = 0
        /// Since when the push service does not serve the present token, in milliseconds since 1970.
        var deadSinceMilliseconds: Int64 = 0
        var registeredAtMilliseconds: Int64
        /// The number of the newest fan-out when it was registered.
        var joined: Int64 = 0
        /// When anything of it changed last, by the time of the simulation.
        var changedNanoseconds: UInt64 = 0
    }

    /// A subscription to records of one room.
    struct Subscription {
        var row: Int64
        var app: Int
        var room: Int
        var owner: SubscriptionOwner
        var devices: [Int]
        var firesOnce: Bool
        /// The event that has fired its only push.
        var firedFor: EventDigest?
        /// When it was saved again after it had fired, so that another event could fire it.
        var renewedNanoseconds: UInt64 = 0
    }

    static let appCount = 4
    /// The app whose backend wants to hear of its pushes, if any does.
    static let toldApp = 1
    static let devicesPerIdentity = 2
    static let datasetCount = 2
    static let datasetNames = ["s0", "s1"]
    /// How many devices of an app subscribe to each topic.
    static let topicSizes = [0, 1, 5, 300, 3_000]
    static let roomCount = 32
    /// A room with more subscribers than fit on a page.
    static let crowdedRoom = roomCount
    /// A room whose subscriptions fire once.
    static let onceRoom = roomCount + 1
    static let recordType = "Note"

    let appNames: [String]
    let poolNames: [String]
    let identityCount: Int
    let startMilliseconds: Int64
    var devices: [Device] = []
    var tokens: [DeviceToken] = []
    var subscriptions: [Subscription] = []
    private var subscriptionsOfRoom: [[Int]]

    /// Makes a world.
    ///
    /// - Parameters:
    ///   - devicesPerApp: how many devices each app has.
    ///   - startMilliseconds: the date of its beginning.
    init(devicesPerApp: Int, startMilliseconds: Int64) {
        appNames = (0..<Self.appCount).map { "app\($0)" }
        poolNames = (0..<Self.appCount).map { "eu:\($0)" }
        identityCount = max(devicesPerApp / Self.devicesPerIdentity, 256) * Self.appCount
        self.startMilliseconds = startMilliseconds
        subscriptionsOfRoom = Array(repeating: [], count: Self.appCount * (Self.onceRoom + 1))
        for device in 0..<identityCount * Self.devicesPerIdentity {
            let identity = device / Self.devicesPerIdentity
            devices.append(
                Device(
                    app: identity % Self.appCount, identity: identity,
                    platform: identity % 7 == 3 ? .apnsSandbox : .apns, registeredAtMilliseconds: startMilliseconds))
            tokens.append(Self.token(of: device, version: 0))
        }
        for app in 0..<Self.appCount { subscribe(app) }
    }

    private func subscribe(_ app: Int) {
        for room in 0..<Self.roomCount {
            add(app, room, user: room)
            add(app, room, user: room + 40)
            add(app, room, device: device(ofApp: app, index: 2 * (room + 80)))
        }
        for index in 0..<180 { add(app, Self.crowdedRoom, user: index) }
        for index in 0..<12 { add(app, Self.onceRoom, user: index + 200, firesOnce: true) }
    }

    private func add(_ app: Int, _ room: Int, user index: Int, firesOnce: Bool = false) {
        let identity = index * Self.appCount + app
        let devices = (0..<Self.devicesPerIdentity).map { identity * Self.devicesPerIdentity + $0 }
        add(app, room, .user("u\(identity)"), devices, firesOnce)
    }

    private func add(_ app: Int, _ room: Int, device: Int) {
        add(app, room, .device("d\(device)"), [device], false)
    }

    private func add(
        _ app: Int, _ room: Int, _ owner: SubscriptionOwner, _ devices: [Int], _ firesOnce: Bool
    ) {
        subscriptionsOfRoom[app * (Self.onceRoom + 1) + room].append(subscriptions.count)
        subscriptions.append(
            Subscription(
                row: Int64(subscriptions.count + 1), app: app, room: room, owner: owner, devices: devices,
                firesOnce: firesOnce))
    }

    // MARK: Numbers and names

    /// The devices of an app, by their index among them.
    func device(ofApp app: Int, index: Int) -> Int {
        (index / Self.devicesPerIdentity * Self.appCount + app) * Self.devicesPerIdentity
            + index % Self.devicesPerIdentity
    }

    /// The index of a device among those of its app.
    static func index(of device: Int) -> Int {
        device / devicesPerIdentity / appCount * devicesPerIdentity + device % devicesPerIdentity
    }

    var devicesPerApp: Int { devices.count / Self.appCount }

    /// How many devices subscribe to a topic.
    func memberCount(topic: Int) -> Int { min(Self.topicSizes[topic], devicesPerApp) }

    /// The indices of the subscriptions of a room, in the order of their rows.
    func subscriptions(app: Int, room: Int) -> [Int] { subscriptionsOfRoom[app * (Self.onceRoom + 1) + room] }

    /// Whether a device subscribes to a dataset of its identity: the second device to one of them only.
    static func follows(device: Int, dataset: Int) -> Bool { dataset == 0 || device % devicesPerIdentity == 1 }

    /// The number behind the first letter of a name, or behind the colon of an identity; nil if there is none.
    static func number(of name: String) -> Int? {
        var number = 0
        var digits = name.utf8.dropFirst()
        if digits.first == UInt8(ascii: "u") { digits = digits.dropFirst(2) }
        guard !digits.isEmpty, digits.count < 12 else { return nil }
        while let digit = digits.popFirst() {
            guard (48...57).contains(digit) else { return nil }
            number = number * 10 + Int(digit) - 48
        }
        return number
    }

    // MARK: Tokens

    private static func token(of device: Int, version: Int) -> DeviceToken {
        var bytes = [UInt8](repeating: 0x5A, count: 12)
        for offset in 0..<4 { bytes[offset] = UInt8(truncatingIfNeeded: device >> (8 * (3 - offset))) }
        for offset in 0..<4 { bytes[4 + offset] = UInt8(truncatingIfNeeded: version >> (8 * (3 - offset))) }
        guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("twelve bytes are a token") }
        return token
    }

    /// The device that a token was given to, and whether it is the device's present one; nil for one of no device.
    func device(of token: DeviceToken) -> (device: Int, isPresent: Bool)? {
        guard token.bytes.count == 12 else { return nil }
        let device = token.bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let version = token.bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
        guard device < devices.count else { return nil }
        return (device, version == devices[device].tokenVersion)
    }

    /// The installation gets a new token, under which it is registered.
    func renewToken(_ device: Int, atNanoseconds now: UInt64, milliseconds: Int64, joined: Int64) {
        devices[device].tokenVersion += 1
        tokens[device] = Self.token(of: device, version: devices[device].tokenVersion)
        register(device, atNanoseconds: now, milliseconds: milliseconds, joined: joined)
    }

    /// The installation is registered again, with the token that it has.
    func register(_ device: Int, atNanoseconds now: UInt64, milliseconds: Int64, joined: Int64) {
        devices[device].isServed = true
        if !devices[device].isRegistered { devices[device].joined = joined }
        devices[device].isRegistered = true
        devices[device].registeredAtMilliseconds = milliseconds
        devices[device].changedNanoseconds = now
    }

    /// The installation is gone: the push service does not serve its token any more.
    func remove(_ device: Int, atNanoseconds now: UInt64, milliseconds: Int64) {
        guard devices[device].isServed else { return }
        devices[device].isServed = false
        devices[device].deadSinceMilliseconds = milliseconds
        devices[device].changedNanoseconds = now
    }

    /// The parts of a device that a push needs.
    func recipient(_ device: Int) -> Recipient {
        Recipient(
            deviceID: "d\(device)", platform: devices[device].platform, token: tokens[device],
            app: appNames[devices[device].app])
    }
}

/// The subject of an event of the load.
enum Subject {
    case dataset(identity: Int, dataset: Int, origin: Int?)
    case topic(app: Int, topic: Int)
    /// A list of devices, identities or users of one app.
    case list(app: Int)
    case record(app: Int, room: Int, origin: Int?)
    case invalid

    /// The app of the event; nil if it is unknown.
    var app: Int? {
        switch self {
        case .dataset(let identity, _, _): identity % World.appCount
        case .topic(let app, _), .list(let app), .record(let app, _, _): app
        case .invalid: nil
        }
    }
}
