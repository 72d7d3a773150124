import Essentials
import Testing

@testable import DispatchCore
@testable import RegistryCore

@Suite("Requests to the registry that are not answered")
struct PendingRequestsTests {
    private var pending = PendingRequests(repeatDelayNanoseconds: 1_000_000_000)
    private var notices: [PipelineNotice] = []

    private mutating func ask(_ purpose: PendingRequests.Purpose, at milliseconds: Int64) -> UInt64 {
        pending.asked(for: purpose, at: Samples.monotonic(milliseconds))
    }

    private mutating func answer(_ number: UInt64, at milliseconds: Int64) -> PendingRequests.Purpose? {
        pending.answered(number, isSuccess: true, at: Samples.monotonic(milliseconds), into: &notices)
    }

    @Test("An answer has the purpose of its request, once, and none if nobody wants it any more")
    mutating func purposes() {
        let batch = ask(.batch(1), at: 0)
        let plan = ask(.plan(7), at: 0)
        #expect(pending.contains { $0 == .batch(1) })
        #expect(answer(plan, at: 1) == .plan(7))
        #expect(answer(plan, at: 1) == nil)
        pending.abandon { $0 == .batch(1) }
        #expect(!pending.contains { $0 == .batch(1) })
        #expect(answer(batch, at: 2) == nil && notices.isEmpty)
    }

    @Test("A registry in trouble is well again when an answer comes in time and no other request is overdue")
    mutating func trouble() {
        let slow = ask(.endings, at: 0)
        #expect(pending.nextDeadline == Samples.monotonic(1_000))
        pending.tick(at: Samples.monotonic(1_000), into: &notices)
        pending.tick(at: Samples.monotonic(1_001), into: &notices)
        #expect(notices.count == 1 && pending.nextDeadline == nil)
        #expect(answer(ask(.batch(1), at: 1_100), at: 1_101) == .batch(1))
        #expect(notices.count == 1, "a write is still overdue")
        #expect(answer(slow, at: 1_200) == .endings)
        #expect(notices.count == 1, "the write itself came late")
        #expect(answer(ask(.batch(1), at: 1_300), at: 1_301) == .batch(1))
        #expect(notices.count == 2)
    }

    @Test("Without look-ups a slow registry is well when pauses are read in time, and one that fails is not")
    mutating func idle() {
        let slow = ask(.batch(1), at: 0)
        pending.tick(at: Samples.monotonic(1_000), into: &notices)
        #expect(answer(ask(.pauses(isFirst: false), at: 1_000), at: 1_001) == .pauses(isFirst: false))
        #expect(notices.count == 1, "a look-up still waits")
        #expect(answer(slow, at: 1_500) == .batch(1))
        #expect(answer(ask(.pauses(isFirst: false), at: 2_000), at: 3_000) == .pauses(isFirst: false))
        #expect(notices.count == 1, "neither came in time")
        #expect(answer(ask(.pauses(isFirst: false), at: 4_000), at: 4_001) == .pauses(isFirst: false))
        #expect(notices.count == 2)

        pending.lookUpFailed(
            RegistryError(.unavailable, "away"), waits: false, at: Samples.monotonic(5_000), into: &notices)
        #expect(answer(ask(.pauses(isFirst: false), at: 6_000), at: 6_001) == .pauses(isFirst: false))
        #expect(notices.count == 3, "look-ups may fail for a reason of their own")
        #expect(answer(ask(.batch(2), at: 7_000), at: 7_001) == .batch(2))
        #expect(notices.count == 4)
    }

    @Test("A look-up that failed is tried again after the delay")
    mutating func retries() {
        pending.lookUpFailed(
            RegistryError(.unavailable, "away"), waits: true, at: Samples.monotonic(0), into: &notices)
        #expect(pending.retryAt == Samples.monotonic(1_000) && pending.nextDeadline == Samples.monotonic(1_000))
        pending.tick(at: Samples.monotonic(999), into: &notices)
        #expect(pending.retryAt != nil)
        pending.tick(at: Samples.monotonic(1_000), into: &notices)
        #expect(pending.retryAt == nil && notices.count == 1)
    }
}
