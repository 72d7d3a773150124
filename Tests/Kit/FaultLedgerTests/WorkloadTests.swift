import Testing

@testable import FaultLedger

@Suite("The load of the fault program")
struct WorkloadTests {
    @Test("A seed gives the same devices and events, another gives others")
    func followsFromTheSeed() {
        func events(_ seed: UInt64) -> [LedgerEvent] {
            var workload = Workload(population: Population(identityCount: 9, seed: seed), seed: seed)
            return (0..<50).compactMap { _ in workload.next() }
        }
        #expect(events(5) == events(5) && events(5) != events(6))
        #expect(
            Population(identityCount: 9, seed: 5).token(of: 3) == Population(identityCount: 9, seed: 5).token(of: 3))
    }

    @Test("Numbers have no gaps, sync counts grow, and no event makes more pushes than bounds assume")
    func staysWithinItsBounds() throws {
        let population = Population(identityCount: 9, seed: 5)
        var workload = Workload(population: population, seed: 5)
        var syncCounts: [Int: Int] = [:]
        for number in 0..<500 {
            let drawn = workload.next()
            let event = try #require(drawn)
            #expect(event.number == number)
            #expect(population.audience(of: event).count <= Population.pushesPerEventMaximum)
            if case .change(let identity, let syncCount) = event.content {
                #expect(syncCount == syncCounts[identity, default: 0] + 1)
                syncCounts[identity] = syncCount
            }
        }
    }
}
