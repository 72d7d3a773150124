import PushTestKit

/// Draws one event after the other.
struct Workload: Sendable {
    private let population: Population
    private var generator: SeededGenerator
    private var syncCounts: [Int]
    private var nextNumber = 0

    /// Creates the load of a seed.
    init(population: Population, seed: UInt64) {
        self.population = population
        generator = SeededGenerator(seed: seed)
        syncCounts = Array(repeating: 0, count: population.identityCount)
    }

    /// The next event.
    mutating func next() -> LedgerEvent {
        defer { nextNumber += 1 }
        if Int.random(in: 0..<3, using: &generator) > 0 {
            let identity = Int.random(in: 0..<population.identityCount, using: &generator)
            syncCounts[identity] += 1
            return LedgerEvent(
                number: nextNumber, content: .change(identity: identity, syncCount: syncCounts[identity]))
        }
        let count = Int.random(in: 1...Population.pushesPerEventMaximum, using: &generator)
        var devices: Set<Int> = []
        while devices.count < count {
            devices.insert(Int.random(in: 0..<population.deviceCount, using: &generator))
        }
        return LedgerEvent(number: nextNumber, content: .request(devices: devices.sorted()))
    }

    /// The body of an event, in structured JSON.
    static func body(of event: LedgerEvent) -> [UInt8] {
        let head = #"{"specversion":"1.0","id":"\#(event.identifier)","source":"ledger","type":"#
        let rest =
            switch event.content {
            case .change(let identity, let syncCount):
                #""dataset.changed","data":{"identityPoolId":"\#(Population.pool)","#
                    + #""identityId":"\#(Population.identityText(identity))","datasetName":"notes","#
                    + #""syncCount":\#(syncCount),"#
                    + #""deviceId":"\#(Population.deviceText(identity * Population.devicesPerIdentity))"}}"#
            case .request(let devices):
                #""push.requested","data":{"app":"\#(Population.app)","deviceIds":["#
                    + devices.map { #""\#(Population.deviceText($0))""# }.joined(separator: ",")
                    + #"],"notification":{"title":"Ledger","data":{"serial":\#(event.number)}}}}"#
            }
        return Array((head + rest).utf8)
    }
}
