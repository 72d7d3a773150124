import ChangeEvents
import Predicates
import RegistryCore

/// Plans a fan-out in chunks and serves them, while devices come and go, and compares who was served with who was
/// there.
///
/// A device that was in the audience from the beginning and has not left is served once; a device that joined later is
/// not; a device that left may be.
struct FanOutWalk {
    enum Kind: CaseIterable {
        case dataset
        case topic
        case identities
        case users
        case subscribers
    }

    private let registry: any RegistryConformance.Store
    private let kind: Kind
    private let name: String
    private let seed: UInt64
    private var generator: SeededGenerator
    private var left: Set<String> = []
    private var rows: [Int64] = []

    init(_ registry: any RegistryConformance.Store, kind: Kind, name: String, seed: UInt64) {
        self.registry = registry
        self.kind = kind
        self.name = name
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    mutating func run() throws {
        for number in 0..<80 { try put(number, isMember: number < 60) }
        try subscribe()
        let members = Set(try page(limit: 10_000).names)
        let fanOut = try registry.beginFanOut(
            FanOutConformance.event(name), planner: 1, nowMilliseconds: FanOutConformance.now)
        var served: [String] = []
        for chunk in try plan(fanOut).shuffled(using: &generator) {
            served += try serve(chunk, of: fanOut)
        }
        let what = "\(kind), seed \(seed)"
        try RegistryConformance.expect(Set(served).count, is: served.count, "different ones of \(what)")
        try RegistryConformance.expect(Set(served).subtracting(members), is: [], "who joined later, \(what)")
        let stayed = members.filter { !left.contains(String($0.split(separator: "/")[1])) }
        try RegistryConformance.expect(stayed.subtracting(served), is: [], "who was left out, \(what)")
    }

    // MARK: Planning and serving

    private mutating func plan(_ fanOut: FanOut) throws -> [FanOutChunk] {
        let limit = Int.random(in: 1...25, using: &generator)
        var chunks: [FanOutChunk] = []
        repeat {
            let after = chunks.last?.through
            let found = try extent(after: after, asOf: fanOut.number, limit: limit)
            chunks.append(
                FanOutChunk(
                    number: chunks.count + 1, after: after, through: found.next, deviceCount: found.deviceCount))
            try disturb()
        } while chunks.last?.through != nil
        return chunks
    }

    private mutating func serve(_ chunk: FanOutChunk, of fanOut: FanOut) throws -> [String] {
        let limit = Int.random(in: 1...10, using: &generator)
        var names: [String] = []
        var after = chunk.after
        while true {
            let found = try page(after: after, through: chunk.through, asOf: fanOut.number, limit: limit)
            try RegistryConformance.expect(found.names.count <= limit, is: true, "that a page has \(limit) at most")
            names += found.names
            try disturb()
            guard let next = found.next else { return names }
            after = next
        }
    }

    /// Where a chunk ends, as a worker finds it.
    private func extent(after: AudienceCursor?, asOf: Int64, limit: Int) throws -> AudienceExtent {
        guard kind == .subscribers else { return try registry.measure(audience, after: after, limit: limit) }
        let found = try page(after: after, asOf: asOf, limit: limit)
        return AudienceExtent(deviceCount: found.names.count, next: found.next)
    }

    private func page(
        after: AudienceCursor? = nil, through: AudienceCursor? = nil, asOf: Int64? = nil, limit: Int
    ) throws -> (names: [String], next: AudienceCursor?) {
        guard kind == .subscribers else {
            let request = AudienceRequest(audience: audience, cursor: after, through: through, asOfFanOut: asOf)
            let page = try registry.resolve([request], limit: limit)[0]
            return (page.devices.map { "0/\($0.deviceID)" }, page.next)
        }
        let request = SubscriberRequest(subscriptions: rows, cursor: after, through: through, asOfFanOut: asOf)
        let page = try registry.resolveSubscribers([request], limit: limit)[0]
        let names = page.entries.map { "\(page.subscriptions[$0.subscription].row)/\($0.recipient.deviceID)" }
        return (names, page.next)
    }

    private var audience: Audience {
        switch kind {
        case .dataset, .subscribers: .dataset(RegistryConformance.dataset("d", identity: "in-\(name):0"))
        case .topic: .topic("t-\(name)", app: "chat")
        case .identities: .identities(["none", "in-\(name):0", "none-either"], app: "chat")
        case .users: .users(["none", "in-\(name)"], app: "chat")
        }
    }

    // MARK: Devices that come and go

    private mutating func disturb() throws {
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let number = Int.random(in: 0..<90, using: &generator)
            if Bool.random(using: &generator) {
                try put(number, isMember: true)
                continue
            }
            left.insert(device(number))
            if Bool.random(using: &generator) {
                _ = try registry.removeDevice(device(number))
            } else {
                try put(number, isMember: false)
            }
        }
    }

    private func device(_ number: Int) -> String { "\(name)-\(number)" }

    /// Makes a device join or leave; it may be in that state already.
    private func put(_ number: Int, isMember: Bool) throws {
        let owner = "\(isMember ? "in" : "out")-\(name)"
        let device = try RegistryConformance.device(device(number), identity: "\(owner):0", user: owner)
        try registry.register([
            DeviceRegistration(
                device: device, datasetNames: isMember ? ["d"] : [], topics: isMember ? ["t-\(name)"] : [])
        ])
        if !isMember { _ = try registry.unsubscribe(device.deviceID, fromTopic: "t-\(name)") }
    }

    private mutating func subscribe() throws {
        for owner in ["in-\(name)", "nobody-\(name)", "in-\(name)"] {
            let subscription = RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user(owner), subscriptionID: "s\(rows.count)"),
                recordType: "Song", predicate: .always, savedAtMilliseconds: 1)
            rows += try registry.save([subscription])
        }
    }
}
