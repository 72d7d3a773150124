import ChangeEvents
import Essentials
import Notifications
import Predicates
public import RegistryCore

/// Does the same random things with subscriptions, badges and topics to a registry and to the in-memory one, and
/// compares every answer.
///
/// The names come from small sets, so that owners, devices and subscriptions meet all the time. Registries may number
/// their rows differently, so subscriptions are compared by their keys.
public struct SubscriptionRandomWalk {
    /// A registry, and what its rows are called.
    private final class Side {
        let registry: any Registry & SubscriptionRegistry
        var rows: [SubscriptionKey: Int64] = [:]
        var keys: [Int64: SubscriptionKey] = [:]
        var followed: [Int64: FollowedSubscription] = [:]
        var cursor: SubscriptionCursor?

        init(_ registry: any Registry & SubscriptionRegistry) { self.registry = registry }

        func name(_ row: Int64) -> String { keys[row].map { "\($0)" } ?? "a row that was never saved" }
    }

    private let side: Side
    private let oracle = Side(InMemoryRegistry())
    private let seed: UInt64
    private var generator: SeededGenerator
    private var step = 0

    /// Begins a walk.
    ///
    /// - Parameters:
    ///   - registry: an empty registry.
    ///   - seed: repeats the walk.
    public init(_ registry: any Registry & SubscriptionRegistry, seed: UInt64) {
        side = Side(registry)
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    /// Walks.
    ///
    /// - Parameter steps: how many things to do.
    /// - Throws: `RegistryViolation` with seed and step if an answer differs.
    public mutating func run(steps: Int) throws {
        for number in 0..<steps {
            step = number
            switch Int.random(in: 0..<14, using: &generator) {
            case 0, 1: try register()
            case 2: try removeOrErase()
            case 3, 4, 5: try save()
            case 6: try remove()
            case 7: try look()
            case 8: try follow()
            case 9, 10: try resolve()
            case 11: try claim()
            case 12: try countBadges()
            default: try changeTopics()
            }
        }
        try follow()
    }

    // MARK: Names

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func user() -> String { "u\(number(2))\(accent())" }

    /// A letter by which names look the same and have other bytes.
    private mutating func accent() -> String { ["", "", "\u{e9}", "e\u{301}"][number(4)] }

    private mutating func app() -> String { "app\(number(2))" }

    /// A device, whose app its name decides.
    private mutating func device() -> (name: String, app: String) {
        let number = number(3)
        return ("d\(number)\(accent())", "app\(number % 2)")
    }

    private mutating func key() -> SubscriptionKey {
        let identifier = "s\(number(2))\(accent())"
        if number(2) == 0 {
            return SubscriptionKey(app: app(), owner: .user(user()), subscriptionID: identifier)
        }
        let device = device()
        let app = number(8) == 0 ? app() : device.app
        return SubscriptionKey(app: app, owner: .device(device.name), subscriptionID: identifier)
    }

    private mutating func subscription() -> RecordSubscription {
        var notification = NotificationInfo()
        notification.alertBody = number(2) == 0 ? nil : "text \(number(3))"
        return RecordSubscription(
            key: key(), recordType: "type\(accent())", firesOn: FiringOperations(rawValue: UInt8(1 + number(7))),
            firesOnce: number(2) == 0, notification: notification, savedAtMilliseconds: Int64(number(5)))
    }

    // MARK: Steps

    private mutating func register() throws {
        var devices: [Device] = []
        for _ in 0..<1 + number(2) {
            let device = device()
            guard let token = DeviceToken(bytes: [UInt8(number(8))]) else { continue }
            devices.append(
                Device(
                    deviceID: device.name, platform: .apns, token: token, app: device.app, identityPoolID: "p:0",
                    identityID: "i:\(number(3))", userID: number(4) == 0 ? nil : user(), registeredAtMilliseconds: 1))
        }
        try compare("register \(devices)") { side in
            try side.registry.upsert(devices)
            return true
        }
    }

    private mutating func removeOrErase() throws {
        let name = device().name
        let user = user()
        let identity = "i:\(number(3))"
        switch number(6) {
        case 0: try compare("erase \(user)") { try $0.registry.eraseUser(user) }
        case 1: try compare("erase \(identity)") { try $0.registry.eraseIdentity(identity) }
        default: try compare("remove \(name)") { try $0.registry.removeDevice(name) }
        }
    }

    private mutating func save() throws {
        var list: [RecordSubscription] = []
        for _ in 0..<1 + number(3) { list.append(subscription()) }
        try compare("save \(list)") { side in
            let rows = try side.registry.save(list)
            for (subscription, row) in zip(list, rows) {
                side.rows[subscription.key] = row
                side.keys[row] = subscription.key
            }
            return rows.map { side.name($0) }
        }
    }

    private mutating func remove() throws {
        let key = key()
        try compare("remove \(key)") { try $0.registry.removeSubscription(key) }
    }

    private mutating func look() throws {
        let key = key()
        try compare("subscription \(key)") { try $0.registry.subscription(key)?.subscription }
        let owner: SubscriptionOwner = number(2) == 0 ? .user(user()) : .device(device().name)
        let filter = SubscriptionFilter(
            app: number(2) == 0 ? app() : nil, owner: number(2) == 0 ? owner : nil,
            recordType: number(2) == 0 ? "type\(accent())" : nil)
        try compare("list \(filter)") { side in
            try side.registry.subscriptions(matching: filter, after: nil, limit: 100).map(\.subscription)
        }
        try compare("counts") { side in
            try side.registry.subscriptionCounts().map { "\($0.app) \($0.recordType ?? "-") \($0.count)" }
        }
    }

    private mutating func follow() throws {
        let limit = 1 + number(5)
        try compare("follow by \(limit)") { side in
            var isCaughtUp = false
            while !isCaughtUp {
                let changes = try side.registry.subscriptionChanges(after: side.cursor, limit: limit)
                if changes.startsOver { side.followed.removeAll() }
                for change in changes.changes {
                    switch change {
                    case .saved(let subscription): side.followed[subscription.row] = subscription
                    case .removed(let row): side.followed[row] = nil
                    }
                }
                side.cursor = changes.next
                isCaughtUp = changes.isCaughtUp
            }
            // The rows of the two registries differ.
            let found = side.followed.values.map { followed in
                var rowless = followed
                rowless.row = 0
                return ByteText("\(side.name(followed.row)): \(rowless)")
            }
            return found.sorted()
        }
    }

    private mutating func resolve() throws {
        var keys: [SubscriptionKey] = []
        for _ in 0..<1 + number(6) { keys.append(key()) }
        let excluded = number(2) == 0 ? device().name : nil
        var only: [(key: SubscriptionKey, deviceID: String)]?
        if number(3) == 0 { only = keys.map { ($0, device().name) } }
        let limit = 1 + number(4)
        try compare("resolve \(keys) by \(limit)") { side in
            // A key is saved in both registries or in neither.
            let rows = Set(keys.compactMap { side.rows[$0] }).sorted()
            let named = only?.compactMap { item in
                side.rows[item.key].map { Subscriber(subscription: $0, deviceID: item.deviceID) }
            }
            var request = SubscriberRequest(subscriptions: rows, only: named, excludedDeviceID: excluded)
            var found: [String] = []
            while true {
                let page = try side.registry.resolveSubscribers([request], limit: limit)[0]
                for entry in page.entries {
                    let covering = entry.coveredBy.map { side.name($0) } ?? "nothing"
                    let subscription = page.subscriptions[entry.subscription]
                    found.append(
                        "\(subscription.key) \(subscription.kind) \(subscription.database) \(subscription.firesOnce)"
                            + " \(subscription.notification) \(entry.recipient), covered by \(covering)")
                }
                guard let next = page.next else { return found.map(ByteText.init).sorted().map(\.text) }
                request.cursor = next
            }
        }
    }

    private mutating func claim() throws {
        let event = EventDigest(source: "/walk", identifier: "\(number(4))")
        // Only existing ones: the fate of a row without an owner is undefined.
        let there = try oracle.registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 100).map(\.row)
        let rows = there + (try oracle.registry.claimedSubscriptions(of: event))
        let keys = rows.compactMap { oracle.keys[$0] }.filter { _ in number(4) == 0 }
        try compare("claim \(keys)") { side in
            let rows = keys.compactMap { side.rows[$0] }
            return try side.registry.claim(rows, for: event, nowMilliseconds: 1_000).map { side.name($0) }
        }
        try compare("claimed") { side in
            try side.registry.claimedSubscriptions(of: event).map { ByteText(side.name($0)) }.sorted().map(\.text)
        }
    }

    private mutating func countBadges() throws {
        var names: [String] = []
        for _ in 0..<1 + number(4) { names.append(device().name) }
        let isRepeated = number(3) == 0
        let badge = number(4)
        let event = EventDigest(source: "/walk", identifier: "\(number(4))")
        try compare("badges of \(names)") { side in
            try side.registry.countBadges(names, for: event, isRepeated: isRepeated)
        }
        if number(3) == 0 { try compare("set badge") { try $0.registry.setBadge(badge, of: names[0]) } }
        try compare("badge") { try $0.registry.badge(of: names[0]) }
    }

    private mutating func changeTopics() throws {
        let (user, app, device, topic) = (user(), app(), device(), "t\(number(2))\(accent())")
        switch number(5) {
        case 0, 1:
            try compare("subscribe \(user) \(app) \(topic)") { side in
                try side.registry.subscribeUser(user, app: app, toTopic: topic)
                return true
            }
        case 2:
            try compare("unsubscribe \(user) \(app) \(topic)") { side in
                try side.registry.unsubscribeUser(user, app: app, fromTopic: topic)
            }
        case 3:
            try compare("subscribe \(device) \(topic)") { side in
                try side.registry.subscribe(device.name, toTopic: topic)
                return true
            }
        default:
            try compare("unsubscribe \(device) \(topic)") { side in
                try side.registry.unsubscribe(device.name, fromTopic: topic)
            }
        }
        try compare("topics of \(app)") { try $0.registry.topics(app: app, after: nil, limit: 2) }
        try compare("audience of \(topic)") { side in
            let request = AudienceRequest(audience: .topic(topic, app: app))
            let found = try RegistryPages.all(of: request, in: side.registry, limit: 2)
            return found.map { ByteText($0.deviceID) }.sorted()
        }
    }

    // MARK: Comparing

    private func compare<Value: Equatable>(_ what: @autoclosure () -> String, _ body: (Side) throws -> Value) throws {
        let expected = try Self.outcome(oracle, body)
        let actual = try Self.outcome(side, body)
        // Texts that differ by their normal form only are equal, but do not read the same.
        guard actual == expected, "\(actual)".hasBytes(of: "\(expected)") else {
            throw RegistryViolation("seed \(seed), step \(step), \(what()): expected \(expected), found \(actual)")
        }
    }

    /// The outcome; of an error only its code, because registries may word it differently.
    private static func outcome<Value>(
        _ side: Side, _ body: (Side) throws -> Value
    ) throws -> Result<Value, Failure> {
        do {
            return .success(try body(side))
        } catch let error as RegistryError {
            return .failure(Failure(code: error.code))
        }
    }

    private struct Failure: Error, Equatable {
        let code: RegistryError.Code
    }
}
