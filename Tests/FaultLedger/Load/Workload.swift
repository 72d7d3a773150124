import PushTestKit

/// Draws one event after the other.
struct Workload: LoadSource {
    /// One of so many events is broken.
    private static let brokenInterval = 100

    private let population: Population
    private var generator: SeededGenerator
    private var syncCounts: [Int]
    private let announcementInterval: Int
    private var nextNumber = 0

    /// Creates the load of a seed.
    ///
    /// - Parameters:
    ///   - population: the devices and users of the events.
    ///   - seed: the seed of the events.
    ///   - announcementInterval: one of so many events goes to the crowd; 0 for none.
    init(population: Population, seed: UInt64, announcementInterval: Int = 0) {
        self.population = population
        self.announcementInterval = announcementInterval
        generator = SeededGenerator(seed: seed)
        syncCounts = Array(repeating: 0, count: population.identityCount)
    }

    /// The next event.
    mutating func next() -> LedgerEvent? {
        defer { nextNumber += 1 }
        return LedgerEvent(number: nextNumber, content: nextContent())
    }

    private mutating func nextContent() -> LedgerEvent.Content {
        if announcementInterval > 0, nextNumber % announcementInterval == announcementInterval / 2 {
            return .announcement
        }
        if Int.random(in: 0..<Self.brokenInterval, using: &generator) == 0 { return .broken }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<7:
            let identity = Int.random(in: 0..<population.identityCount, using: &generator)
            syncCounts[identity] += 1
            return .change(identity: identity, syncCount: syncCounts[identity])
        case 7..<9: return .record(room: Int.random(in: 0..<Population.roomCount, using: &generator))
        default:
            let count = Int.random(in: 1...Population.pushesPerEventMaximum, using: &generator)
            var devices: Set<Int> = []
            while devices.count < count {
                devices.insert(Int.random(in: 0..<population.memberCount, using: &generator))
            }
            return .request(devices: devices.sorted())
        }
    }

    /// Returns the message of an event.
    func message(of event: LedgerEvent) -> LoadMessage {
        LoadMessage(identifier: event.identifier, routingKey: "ledger", body: Self.body(of: event))
    }

    /// The event in structured JSON.
    private static func body(of event: LedgerEvent) -> String {
        switch event.content {
        case .change(let identity, let syncCount):
            TestEvents.datasetChanged(
                event.identifier, identity: Population.identityText(identity), syncCount: syncCount,
                deviceID: Population.deviceText(identity * Population.devicesPerIdentity))
        case .request(let devices): request(event, to: .devices(devices.map(Population.deviceText)))
        case .announcement: request(event, to: .topic(Population.topic))
        case .broken:
            TestEvents.event(
                event.identifier, "dataset.changed", #"{"identityPoolId":"\#(Population.pool)"}"#)
        case .record(let room):
            TestEvents.record(
                event.identifier, type: "Note", name: "n\(event.number)",
                fields: #"{"room":\#(room),"loud":1,"text":"Number \#(event.number)"}"#,
                more: #","app":"\#(Population.app)""#)
        }
    }

    private static func request(_ event: LedgerEvent, to target: TestEvents.Target) -> String {
        TestEvents.pushRequested(
            event.identifier, to: target, app: Population.app,
            notification: #"{"title":"Ledger","data":{"serial":\#(event.number)}}"#)
    }
}
