import ChangeEvents
import DispatchCore
import Essentials
import PushTestKit
import RegistryCore
import Testing

/// A planning machine over a registry in memory, whose audience is 60 devices in chunks of 25.
struct PlanningBench {
    static let planner: Int64 = 7
    static let repeatDelayMilliseconds: UInt64 = 1_000

    let registry = InMemoryRegistry()
    var planning = FanOutPlanning(
        planner: Self.planner, devicesPerChunkMaximum: 25,
        repeatDelayNanoseconds: Self.repeatDelayMilliseconds * 1_000_000)
    var actions = FanOutPlanning.Actions()
    var now = MonotonicTime(nanoseconds: 5_000_000_000)
    var positions = Array(1...60 as ClosedRange<Int64>)
    /// Chunks that were published and not confirmed.
    var unconfirmed: [FanOutPlanning.Publish] = []
    var published: [FanOutChunkJob] = []
    var settled: [DeliveryTag] = []
    var notices: [FanOutPlanning.Notice] = []

    /// The wall clock; its distance from the monotonic clock stays the same.
    var nowMilliseconds: Int64 { 1_000_000 + now.milliseconds(since: MonotonicTime(nanoseconds: 0)) }

    // MARK: Values

    static func tag(_ number: UInt64) -> DeliveryTag { DeliveryTag(epoch: 1, number: number) }

    static func event(_ identifier: String = "1") -> FanOutEvent {
        FanOutEvent(
            digest: EventDigest(source: "test", identifier: identifier), source: "test", identifier: identifier,
            type: "push.requested", app: "chat")
    }

    static func largeEvent(
        _ identifier: String = "1", audience: FanOutAudience = .devices(.topic("news", app: "chat")),
        excludedDeviceID: String? = nil
    ) -> FanOutPlanning.LargeEvent {
        let delivery = Samples.delivery(body: identifier)
        return FanOutPlanning.LargeEvent(
            event: event(identifier), message: delivery.message,
            retryState: RetryState(of: delivery, nowMilliseconds: 0), audience: audience,
            excludedDeviceID: excludedDeviceID)
    }

    // MARK: Events

    mutating func begin(_ identifier: String = "1", tags: UInt64..., known: FanOut? = nil) {
        planning.began(
            Self.largeEvent(identifier), tags: tags.map(Self.tag), known: known, at: now, into: &actions)
    }

    /// Gives what is to be asked, and forgets it.
    mutating func takeQuestions() -> [(plan: UInt64, question: FanOutPlanning.Question)] {
        defer { actions.questions.removeAll() }
        return actions.questions
    }

    /// Answers all questions, those that follow from the answers too, until none is asked.
    mutating func answerAll() throws {
        while !actions.questions.isEmpty {
            for (plan, question) in takeQuestions() { try answer(plan, question) }
        }
        collect()
    }

    mutating func answer(_ plan: UInt64, _ question: FanOutPlanning.Question) throws {
        do throws(RegistryError) {
            switch question {
            case .fanOut(let request):
                let answer = try request.perform(on: registry, nowMilliseconds: nowMilliseconds)
                planning.answered(plan, answer, at: now, into: &actions)
            case .findChunk(let search):
                planning.chunkFound(plan, extent(search), at: now, into: &actions)
            }
        } catch {
            planning.questionFailed(plan, error, at: now, into: &actions)
        }
    }

    private func extent(_ search: FanOutChunkSearch) -> FanOutChunkExtent {
        let rest = positions.filter { $0 > search.after?.position ?? 0 }
        let found = rest.prefix(search.limit)
        let end = rest.count > found.count ? found.last.map { AudienceCursor(position: $0) } : nil
        return FanOutChunkExtent(AudienceExtent(deviceCount: found.count, next: end))
    }

    /// The broker confirms all chunks, those that are planned meanwhile too.
    mutating func confirmAll() throws {
        collect()
        while !unconfirmed.isEmpty {
            let publish = unconfirmed.removeFirst()
            planning.chunkConfirmed(publish.plan, at: now, into: &actions)
            try answerAll()
        }
    }

    mutating func planAll() throws {
        try answerAll()
        try confirmAll()
    }

    mutating func pass(milliseconds: UInt64) {
        now = now.advanced(byMilliseconds: milliseconds)
        planning.tick(at: now, into: &actions)
    }

    /// Takes over what the machine has done.
    mutating func collect() {
        unconfirmed += actions.publishes
        published += actions.publishes.map(\.chunk)
        settled += actions.settles
        notices += actions.notices
        actions.publishes = []
        actions.settles = []
        actions.notices = []
    }
}
