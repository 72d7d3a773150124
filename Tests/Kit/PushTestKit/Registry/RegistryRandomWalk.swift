import ChangeEvents
import Essentials
import Notifications
public import RegistryCore

/// Does the same random things to a registry and to the in-memory one, and compares every answer.
///
/// The names come from small sets, so that devices, tokens and subscriptions meet all the time.
public struct RegistryRandomWalk {
    private let registry: any Registry
    private let oracle = InMemoryRegistry()
    private let seed: UInt64
    private var generator: SeededGenerator
    private var step = 0

    /// Begins a walk.
    ///
    /// - Parameters:
    ///   - registry: an empty registry.
    ///   - seed: repeats the walk.
    public init(_ registry: any Registry, seed: UInt64) {
        self.registry = registry
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
            try takeStep()
        }
        try compare("tokens") { registry throws(RegistryError) in try registry.tokens(of: (0..<12).map { "d\($0)" }) }
        try compare("list") { registry throws(RegistryError) in
            try registry.devices(matching: DeviceFilter(), after: nil, limit: 1_000)
        }
    }

    private mutating func takeStep() throws {
        switch Int.random(in: 0..<17, using: &generator) {
        case 0, 1, 2: try register()
        case 3: try prune()
        case 4, 5, 6: try changeSubscription()
        case 7: try recordDatasets()
        case 8: try look()
        case 9, 10: try changeTokens()
        case 11: try lookAtTokens()
        default: try resolve()
        }
    }

    // MARK: Names

    private mutating func pick(_ kind: String, _ count: Int) -> String {
        "\(kind)\(Int.random(in: 0..<count, using: &generator))"
    }

    /// A name that may look like another one and have other bytes.
    private mutating func pickLookalike(_ kind: String, _ count: Int) -> String {
        pick(kind, count) + (["", "", "\u{e9}", "e\u{301}"].randomElement(using: &generator) ?? "")
    }

    private mutating func list<Element>(
        _ countMaximum: Int, _ element: (inout RegistryRandomWalk) -> Element
    ) -> [Element] {
        let count = Int.random(in: 0...countMaximum, using: &generator)
        return (0..<count).map { _ in element(&self) }
    }

    private mutating func deviceID() -> String { pickLookalike("d", 6) }

    private mutating func chance(_ denominator: Int) -> Bool { Int.random(in: 0..<denominator, using: &generator) == 0 }

    /// One of few kinds, so that they meet.
    private mutating func kind() -> TokenKind { chance(2) ? .voip : .widgets }

    private mutating func platform() -> Platform { Platform.allCases.randomElement(using: &generator) ?? .apns }

    private mutating func token() -> DeviceToken {
        // A few long ones that differ in the last byte only.
        let last = UInt8.random(in: 0..<10, using: &generator)
        let bytes = last < 5 ? [last] : Array(repeating: 9, count: 255) + [last]
        guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("1 or 256 bytes make a token") }
        return token
    }

    /// An address of any platform; of text, few short and few long ones that other platforms have, too.
    private mutating func address(_ platform: Platform? = nil) -> (platform: Platform, token: DeviceToken) {
        let platform = platform ?? self.platform()
        guard platform.hasTextTokens else { return (platform, token()) }
        let address = try? SampleAddress.make(
            platform, pick("a", 3), bytes: chance(2) ? 0 : 300, isInstallationID: chance(3),
            generation: UInt8.random(in: 0..<2, using: &generator), expiresAtMilliseconds: chance(2) ? nil : 7)
        guard let address else { preconditionFailure("a short name makes an address") }
        return (platform, address)
    }

    private mutating func datasetKey() -> DatasetKey {
        DatasetKey(
            identityPoolID: pick("p:", 2), identityID: pick("i:", 3),
            datasetName: chance(20) ? "*" : pick("s", 6))
    }

    private mutating func device() -> Device {
        let hasIdentity = !chance(6)
        let address = address()
        return Device(
            deviceID: deviceID(), platform: address.platform, token: address.token, app: pick("app", 2),
            identityPoolID: hasIdentity ? pick("p:", 2) : nil,
            identityID: hasIdentity ? pick("i:", 3) : nil, userID: chance(4) ? nil : pickLookalike("u", 2),
            registeredAtMilliseconds: Int64.random(in: 0..<10, using: &generator))
    }

    // MARK: Steps

    private mutating func register() throws {
        let registrations = list(3) { walk in
            DeviceRegistration(
                device: walk.device(), datasetNames: walk.chance(2) ? walk.list(3) { $0.pick("s", 6) } : [],
                topics: walk.list(2) { $0.pickLookalike("t", 2) },
                tokens: Dictionary(walk.list(2) { ($0.kind(), $0.token()) }, uniquingKeysWith: { $1 }))
        }
        let keepsApps = chance(4)
        try compare("register \(registrations)") { registry throws(RegistryError) in
            try registry.register(registrations, keepsApps: keepsApps)
        }
    }

    private mutating func prune() throws {
        let dead = list(3) { walk in
            let address = walk.address()
            var dead = DeadToken(
                app: walk.pick("app", 3), platform: address.platform,
                kind: address.platform.hasTextTokens || walk.chance(2) ? .alert : walk.kind(), token: address.token,
                deadSinceMilliseconds: walk.chance(2) ? nil : Int64.random(in: 0..<10, using: &walk.generator))
            // ADM names its successors without details, which only FCM's and browsers' addresses have.
            if address.platform == .adm, walk.chance(2) {
                dead.successor = DeviceToken(text: walk.address(.adm).token.bytes)
            }
            return dead
        }
        try compare("prune \(dead)") { registry throws(RegistryError) in try registry.prune(dead) }
    }

    private mutating func changeTokens() throws {
        if chance(4) {
            let (deviceID, kind) = (deviceID(), kind())
            return try compare("remove \(kind) of \(deviceID)") { registry throws(RegistryError) in
                try registry.removeToken(kind, of: deviceID)
            }
        }
        let tokens = list(4) { walk in
            FurtherToken(
                deviceID: walk.deviceID(), kind: walk.chance(20) ? .alert : walk.kind(), token: walk.token(),
                registeredAtMilliseconds: Int64.random(in: 0..<10, using: &walk.generator))
        }
        // Most devices of a longer list are not there, which refuses all of it.
        for saved in chance(3) ? [tokens] : tokens.map({ [$0] }) {
            try compare("save \(saved)") { registry throws(RegistryError) in
                try registry.saveTokens(saved)
                return true
            }
        }
    }

    private mutating func lookAtTokens() throws {
        let deviceIDs = list(6) { $0.deviceID() }
        try compare("tokens of \(deviceIDs)") { registry throws(RegistryError) in try registry.tokens(of: deviceIDs) }
        let (tokens, app, kind) = (list(6) { $0.token() }, pick("app", 3), kind())
        try compare("kinds of \(tokens) in \(app)") { registry throws(RegistryError) in
            let kinds = try registry.kinds(of: tokens, app: app)
            return kinds.map { "\($0.token.hexadecimal) \($0.kind) \($0.platform)" }.sorted()
        }
        try compare("has \(kind) in \(app)") { registry throws(RegistryError) in
            try registry.hasTokens(kind, app: app)
        }
    }

    private mutating func changeSubscription() throws {
        let deviceID = deviceID()
        let dataset = pick("s", 6)
        let topic = pickLookalike("t", 2)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            try compare("subscribe \(deviceID) \(dataset)") { registry throws(RegistryError) in
                try registry.subscribe(deviceID, toDataset: dataset)
                return true
            }
        case 1:
            try compare("unsubscribe \(deviceID) \(dataset)") { registry throws(RegistryError) in
                try registry.unsubscribe(deviceID, fromDataset: dataset)
            }
        case 2, 3:
            let names = chance(2) ? nil : list(2) { $0.pick("s", 6) }
            let future = chance(2)
            try compare("subscribe all \(deviceID) \(names ?? []) \(future)") { registry throws(RegistryError) in
                try registry.subscribeToAllDatasets(deviceID, names: names, includingFuture: future)
            }
        case 4:
            try compare("subscribe \(deviceID) \(topic)") { registry throws(RegistryError) in
                try registry.subscribe(deviceID, toTopic: topic)
                return true
            }
        default:
            try compare("unsubscribe \(deviceID) \(topic)") { registry throws(RegistryError) in
                try registry.unsubscribe(deviceID, fromTopic: topic)
            }
        }
    }

    private mutating func recordDatasets() throws {
        let keys = list(4) { $0.datasetKey() }
        try compare("record \(keys)") { registry throws(RegistryError) in
            try registry.recordDatasets(keys)
            return true
        }
    }

    private mutating func look() throws {
        let deviceID = deviceID()
        try compare("device \(deviceID)") { registry throws(RegistryError) in try registry.device(deviceID) }
        let (address, app) = (address(), pick("app", 2))
        try compare("device at \(address) in \(app)") { registry throws(RegistryError) in
            try registry.device(at: address.token, platform: address.platform, app: app)
        }
        try compare("datasets of \(deviceID)") { registry throws(RegistryError) in
            try registry.datasetSubscriptions(of: deviceID)
        }
        try compare("count") { registry throws(RegistryError) in try registry.deviceCount() }
        let filter = DeviceFilter(
            app: chance(2) ? pick("app", 3) : nil, identityID: chance(2) ? pick("i:", 4) : nil,
            userID: chance(2) ? pickLookalike("u", 3) : nil)
        let after = chance(2) ? deviceID : nil
        try compare("list \(filter) after \(after ?? "")") { registry throws(RegistryError) in
            try registry.devices(matching: filter, after: after, limit: 4)
        }
        if chance(3) {
            try compare("remove \(deviceID)") { registry throws(RegistryError) in try registry.removeDevice(deviceID) }
        }
    }

    private mutating func audience() -> Audience {
        let app = pick("app", 3)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: return .dataset(datasetKey())
        case 2: return .topic(pickLookalike("t", 3), app: app)
        case 3:
            return chance(2)
                ? .identities(list(4) { $0.pick("i:", 4) }, app: app)
                : .users(list(3) { $0.pickLookalike("u", 2) }, app: app)
        case 4: return .devices(list(8) { $0.deviceID() }, app: app)
        default: return .tokens(list(8) { $0.token() }, app: app)
        }
    }

    private mutating func resolve() throws {
        let requests = list(9) { walk in
            AudienceRequest(
                audience: walk.audience(), excludedDeviceID: walk.chance(3) ? walk.deviceID() : nil,
                onlyDeviceIDs: walk.chance(3)
                    ? walk.list(5) { $0.chance(4) ? $0.token().hexadecimal : $0.deviceID() } : nil)
        }
        let limit = Int.random(in: 1...5, using: &generator)
        try compare("resolve \(requests) by \(limit)") { registry throws(RegistryError) in
            try Self.walk(requests, in: registry, limit: limit)
        }
        for request in requests {
            try compare("measure \(request.audience) by \(limit)") { registry throws(RegistryError) in
                let extent = try registry.measure(request.audience, after: nil, limit: limit)
                return [extent.deviceCount, extent.next == nil ? 0 : 1]
            }
        }
    }

    /// Reads all pages, those of one round in one call; a retry's names have no order of their own.
    private static func walk(
        _ requests: [AudienceRequest], in registry: any Registry, limit: Int
    ) throws(RegistryError) -> [[Recipient]] {
        var devices: [[Recipient]] = Array(repeating: [], count: requests.count)
        var open = Array(requests.enumerated())
        while !open.isEmpty {
            let pages = try registry.resolve(open.map(\.element), limit: limit)
            var remaining: [(offset: Int, element: AudienceRequest)] = []
            for ((offset, element), page) in zip(open, pages) {
                devices[offset] += page.devices
                guard let next = page.next, !page.devices.isEmpty else { continue }
                var request = element
                request.cursor = next
                remaining.append((offset, request))
            }
            open = remaining
        }
        for (index, request) in requests.enumerated() where request.onlyDeviceIDs != nil {
            devices[index].sort { ByteText($0.deviceID) < ByteText($1.deviceID) }
        }
        return devices
    }

    // MARK: Comparing

    private func compare<Value: Equatable>(
        _ what: @autoclosure () -> String, _ body: (any Registry) throws(RegistryError) -> Value
    ) throws {
        let expected = Self.outcome(oracle, body)
        let actual = Self.outcome(registry, body)
        // Texts that differ by their normal form only are equal, but do not read the same.
        guard actual == expected, "\(actual)".hasBytes(of: "\(expected)") else {
            throw RegistryViolation("seed \(seed), step \(step), \(what()): expected \(expected), found \(actual)")
        }
    }

    private static func outcome<Value>(
        _ registry: any Registry, _ body: (any Registry) throws(RegistryError) -> Value
    ) -> Result<Value, Failure> {
        do throws(RegistryError) {
            return .success(try body(registry))
        } catch {
            return .failure(Failure(code: error.code))
        }
    }

    /// An error without its message, in which registries may differ.
    private struct Failure: Error, Equatable {
        let code: RegistryError.Code
    }
}
