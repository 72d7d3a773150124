import PushTestKit
import Testing

@testable import LoadGenerator

@Suite("The search for the capacity")
struct CapacitySearchTests {
    private static let limit = CapacityGoal.Limit(share: 0.99, name: "p99", microseconds: 50_000)

    private func search(first: Double, maximum: Double, precision: Double) -> CapacitySearch {
        CapacitySearch(firstPerSecond: first, maximumPerSecond: maximum, limit: Self.limit, precision: precision)
    }

    /// Searches a system that holds all rates up to a knee.
    private func search(knee: Double, first: Double, maximum: Double, precision: Double) -> CapacitySearch {
        var search = self.search(first: first, maximum: maximum, precision: precision)
        while let rate = search.nextPerSecond {
            search.measured(rate <= knee ? .held : .failed("too fast"), microseconds: 1)
        }
        return search
    }

    @Test("Any knee between the first and the highest rate is found to the precision", arguments: 1...200)
    func findsTheKnee(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let knee = Double.random(in: 1...90_000, using: &random)
        let first = Double.random(in: 1...2_000, using: &random)
        let found = search(knee: knee, first: first, maximum: 100_000, precision: 0.05)
        guard knee >= first / 1_024 else { return }
        let best = try #require(found.bestPerSecond)
        #expect(best <= knee && best >= knee / 1.051)
        #expect(found.nextPerSecond == nil && found.steps.count < 60)
        let failed = try #require(found.failed)
        #expect(failed.perSecond > knee && failed.perSecond - best <= 0.051 * best && failed.reason == "too fast")
    }

    @Test("A system that holds the highest rate is not asked for more")
    func unlimited() {
        let found = search(knee: .infinity, first: 100, maximum: 1_000, precision: 0.05)
        #expect(found.steps.map(\.perSecond) == [100, 200, 400, 800, 1_000])
        #expect(found.bestPerSecond == 1_000 && found.failed == nil)
    }

    @Test("A system that holds nothing is given up, with the reason")
    func hopeless() {
        let found = search(knee: 0, first: 100, maximum: 1_000, precision: 0.05)
        #expect(found.bestPerSecond == nil && found.failed?.reason == "too fast" && found.steps.count <= 22)
    }

    @Test("One hiccup does not end the search: a rate fails only twice in a row")
    func hiccup() {
        var search = search(first: 100, maximum: 400, precision: 0.1)
        search.measured(.failed("a hiccup"), microseconds: 1)
        #expect(search.nextPerSecond == 100 && search.failed == nil)
        search.measured(.held, microseconds: 1)
        #expect(search.nextPerSecond == 200)
    }

    @Test("A rate that failed by chance is measured again at the end, and the search goes on above it")
    func limitIsConfirmed() {
        var search = search(first: 100, maximum: 100_000, precision: 0.05)
        var measurements = 0
        while let rate = search.nextPerSecond {
            measurements += 1
            // The machine is busy with something else for the first two steps.
            search.measured(rate <= 1_000 && measurements > 2 ? .held : .failed("too fast"), microseconds: 1)
        }
        let best = search.bestPerSecond ?? 0
        #expect(best <= 1_000 && best >= 950)
    }

    // MARK: The goal

    private let goal = CapacityGoal(Self.limit)

    private func result(
        latency: Int64 = 10_000, delay: Int64 = 10, confirm: Int64 = 500, pushes: Int = 100, refused: Int = 0,
        unpublished: Int = 0
    ) -> LoadResult {
        let plan = LoadPlan(profile: .oneToOne, deviceCount: 10, audience: 1, hasDatasets: false, seed: 1)
        var book = LoadBook(plan: plan, startMicroseconds: 0, warmUpSeconds: 0)
        for number in 0..<100 + refused {
            book.published(intendedMicroseconds: 1_000, atMicroseconds: 1_000 + delay)
            if number >= 100 {
                book.failed(number, isReturned: false)
                continue
            }
            book.confirmed(number, atMicroseconds: 1_000 + confirm)
            if number < pushes {
                let push = RecordedMark(
                    event: number, timeMicroseconds: 1_000 + latency, isAccepted: true, isRepeated: false)
                book.pushed(push)
            }
        }
        return LoadResult(
            book, settings: [], measuredSeconds: 1, intendedPerSecond: 100, unpublished: unpublished, warnings: [])
    }

    @Test("A run within the limits holds; one beyond, or with a loss, fails with the reason")
    func verdicts() {
        #expect(goal.verdict(on: result()) == .held)
        #expect(goal.verdict(on: result(latency: 60_000)) == .failed("p99 was 60.0 ms, above 50.0 ms"))
        #expect(
            goal.verdict(on: result(latency: 60_000, delay: 40_000))
                == .failed("p99 was 60.0 ms, above 50.0 ms; publishing alone was 40.0 ms late"))
        #expect(
            goal.verdict(on: result(latency: 60_000, confirm: 55_000))
                == .failed("p99 was 60.0 ms, above 50.0 ms; RabbitMQ's confirm alone took 55.0 ms"))
        for bad in [result(pushes: 99), result(refused: 1), result(unpublished: 1), result(pushes: 0)] {
            #expect(goal.verdict(on: bad) != .held)
        }
    }

    @Test("A run is hopeless after three seconds far above the goal, warm-up not counted")
    func hopelessRuns() {
        func sample(_ p50: UInt64, isMeasured: Bool = true) -> LoadSample {
            LoadSample(
                seconds: 1, publishedPerSecond: 1, confirmedPerSecond: 1, pushedPerSecond: 1, p50: p50, p99: p50,
                maximum: p50, isMeasured: isMeasured, unconfirmed: 0, queue: nil)
        }
        #expect(goal.isHopeless([sample(300_000), sample(300_000), sample(300_000)]))
        #expect(!goal.isHopeless([sample(300_000), sample(100_000), sample(300_000)]))
        #expect(!goal.isHopeless([sample(300_000, isMeasured: false), sample(300_000), sample(300_000)]))
    }
}
