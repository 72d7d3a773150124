import PushTestKit

/// The identities and devices that the load is about; all follows from the seed.
struct Population: Sendable {
    /// Devices of each identity: a maker, two readers (of which a few are gone) and a bystander.
    static let devicesPerIdentity = 4
    /// How many pushes one event makes at most.
    static let pushesPerEventMaximum = 3
    /// How many users have a room, to whose records they have subscribed; theirs are the first identities.
    static let roomCount = 4
    /// The topic of announcements.
    static let topic = "everybody"
    /// The identity pool of the app.
    static let pool = TestEvents.pool
    /// The app that the devices have.
    static let app = "chat"
    /// Its topic.
    static let bundleID = "com.example.chat"
    /// With what the tokens of APNs' development environment begin, in populations that have such devices.
    static let sandboxPrefix = "5"
    /// One of so many readers is gone.
    private static let goneInterval = 41

    /// How many identities there are.
    let identityCount: Int
    /// How many devices wait for announcements.
    let crowdCount: Int
    /// The push services of the devices: each event with several devices is for several services, if there are.
    let services: [ServiceKind]
    /// Whether one device of APNs in sixteen is one of its development environment.
    let hasSandbox: Bool
    private let tokens: [String]
    private let devices: [String: Int]
    private let names: [String: Int]

    /// Draws the devices.
    ///
    /// - Parameters:
    ///   - identityCount: the number of identities.
    ///   - crowdCount: the number of devices that wait for announcements.
    ///   - services: the push services that the devices have in turn, at least one.
    ///   - hasSandbox: whether one device of APNs in sixteen is one of its development environment.
    ///   - seed: the seed of the tokens.
    init(
        identityCount: Int, crowdCount: Int = 0, services: [ServiceKind] = [.apns], hasSandbox: Bool = false,
        seed: UInt64
    ) {
        self.identityCount = identityCount
        self.crowdCount = crowdCount
        self.services = services
        self.hasSandbox = hasSandbox
        var generator = SeededGenerator(seed: seed)
        tokens = (0..<identityCount * Self.devicesPerIdentity + crowdCount).map { device in
            let digits = (0..<4).map { _ in
                let digits = String(UInt64.random(in: 0 ... .max, using: &generator), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
            return switch services[device % services.count] {
            case .apns: digits
            // As long as those of Google, about which nothing is promised.
            case .fcm: "\(digits.prefix(22)):APA91b" + digits + digits
            case .webpush: Browser(number: device / services.count).name
            }
        }
        devices = Dictionary(uniqueKeysWithValues: tokens.enumerated().map { ($1, $0) })
        names = Dictionary(uniqueKeysWithValues: tokens.indices.map { (Self.deviceText($0), $0) })
    }

    /// All devices.
    var deviceRange: Range<Int> { tokens.indices }

    /// How many devices belong to identities; those of the crowd come after them.
    var memberCount: Int { tokens.count - crowdCount }

    /// Returns the role of a device in changes.
    func role(of device: Int) -> DeviceRole {
        guard device < memberCount else { return .crowd }
        return switch device % Self.devicesPerIdentity {
        case 0: .maker
        case 3: .bystander
        default: device % Self.goneInterval == 1 ? .gone : .reader
        }
    }

    /// The push service of a device.
    func service(of device: Int) -> ServiceKind { services[device % services.count] }

    /// Whether a device is one of APNs' development environment.
    func isSandbox(_ device: Int) -> Bool {
        hasSandbox && service(of: device) == .apns && tokens[device].hasPrefix(Self.sandboxPrefix)
    }

    /// The browser that a device is; nil if it is none.
    func browser(of device: Int) -> Browser? {
        service(of: device) == .webpush ? Browser(number: device / services.count) : nil
    }

    /// Whether a device has a right to be told of its identity's changes.
    func followsChanges(_ device: Int) -> Bool { role(of: device) == .reader }

    /// The devices that have to get a push of an event.
    func audience(of event: LedgerEvent) -> [Int] {
        switch event.content {
        case .change(let identity, _):
            let first = identity * Self.devicesPerIdentity
            return (first..<first + Self.devicesPerIdentity).filter { followsChanges($0) }
        case .request(let devices): return devices.filter { role(of: $0) != .gone }
        case .record(let room):
            let first = room * Self.devicesPerIdentity
            return (first..<first + Self.devicesPerIdentity).filter { isUser($0) && role(of: $0) != .gone }
        case .announcement: return Array(memberCount..<tokens.count)
        case .broken: return []
        }
    }

    /// Whether a device has to get a push of an event.
    func isAddressed(_ device: Int, by event: LedgerEvent) -> Bool {
        if case .announcement = event.content { return role(of: device) == .crowd }
        return audience(of: event).contains(device)
    }

    /// Whether a device belongs to a user who has a room.
    private func isUser(_ device: Int) -> Bool {
        Self.identity(of: device) < Self.roomCount && ![.bystander, .crowd].contains(role(of: device))
    }

    /// The identity that a device belongs to.
    static func identity(of device: Int) -> Int { device / devicesPerIdentity }

    /// How an identity is called.
    static func identityText(_ identity: Int) -> String { TestDevices.identity(identity) }

    /// How a device is called in the registry.
    static func deviceText(_ device: Int) -> String { TestDevices.name(device) }

    /// Returns the name of a device in the simulator's record: its token, or the name of its subscription.
    func token(of device: Int) -> String { tokens[device] }

    /// The device with a token.
    func device(token: String) -> Int? { devices[token] }

    /// The device that the registry calls so.
    func device(named name: String) -> Int? { names[name] }

    /// The lines that `apus device import` reads.
    ///
    /// - Parameter subscription: the subscription of a browser, in JSON.
    /// - Returns: lines of JSON.
    /// - Throws: the error of `subscription`.
    func importLines(subscription: (Browser) throws -> String) rethrows -> String {
        try tokens.indices.map { device in
            let members = memberships(of: device)
            switch service(of: device) {
            case .apns:
                let isSandbox = isSandbox(device)
                return TestDevices.importLine(device, token: tokens[device], isSandbox: isSandbox, members) + "\n"
            case .fcm: return Self.importLine(device, "GCM", #""token":"\#(tokens[device])""#, members)
            case .webpush:
                let json = try subscription(Browser(number: device / services.count))
                return Self.importLine(device, "WEB_PUSH", #""subscription":\#(json)"#, members)
            }
        }.joined()
    }

    private static func importLine(_ device: Int, _ platform: String, _ address: String, _ members: String) -> String {
        #"{"deviceId":"\#(deviceText(device))","platform":"\#(platform)",\#(address),"app":"\#(app)",\#(members)}"#
            + "\n"
    }

    private func memberships(of device: Int) -> String {
        let registeredAt = #""registeredAt":1600000000000"#
        guard device < memberCount else { return registeredAt + #","topics":["\#(Self.topic)"]"# }
        let identity = Self.identity(of: device)
        let user = isUser(device) ? #","userId":"\#(Self.userText(room: identity))""# : ""
        let datasets = role(of: device) == .bystander ? [] : ["notes"]
        return registeredAt + user + "," + TestDevices.membership(identity, datasets: datasets)
    }

    /// How the user is called who has a room.
    static func userText(room: Int) -> String { "user-\(room)" }

    /// Returns the arguments of `apus subscription save` for the user of a room.
    static func subscriptionArguments(room: Int) -> [String] {
        [
            "subscription", "save", "room-\(room)", "--app", app, "--user", userText(room: room), "--type", "Note",
            "--predicate", "room = \(room) AND loud = 1", "--fires-on", "created", "--alert", "{text}",
        ]
    }

    /// The lines of a simulator's script: what it says of the devices that are gone.
    func scriptLines(of service: ServiceKind) -> String {
        tokens.indices.filter { role(of: $0) == .gone && self.service(of: $0) == service }.map { device in
            service.goneLine(tokens[device]) + "\n"
        }.joined()
    }
}

/// The role of a device in the changes of its identity.
enum DeviceRole: Sendable, Hashable {
    /// Makes the changes, and must not be told of them.
    case maker
    /// Is told of the changes.
    case reader
    /// Is registered and has subscribed to nothing.
    case bystander
    /// Is told of the changes, but the app is gone from it: APNs says so, and the worker prunes it.
    case gone
    /// Belongs to no identity, and waits for announcements.
    case crowd
}
