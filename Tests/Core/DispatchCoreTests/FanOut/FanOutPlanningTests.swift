import ChangeEvents
import Essentials
import Predicates
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Planning large fan-outs")
struct FanOutPlanningTests {
    // MARK: One plan

    @Test("An event is settled when the broker has confirmed all its chunks, which follow each other, and not before")
    func settlesWhenPlanned() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1, 2)
        #expect(bench.planning.planCount == 0)
        try bench.answerAll()
        #expect(bench.planning.planCount == 1)
        #expect(bench.published.map(\.chunk.number) == [1], "the first chunk goes out at once")
        let first = try #require(bench.unconfirmed.first)
        #expect(first.chunk.fanOut == 1 && first.message == Samples.delivery(body: "1").message)
        bench.planning.chunkConfirmed(bench.unconfirmed.removeFirst().plan, at: bench.now, into: &bench.actions)
        try bench.answerAll()
        #expect(bench.published.map(\.chunk.deviceCount) == [25, 25, 10])
        #expect(bench.published.map(\.chunk.after?.position) == [nil, 25, 50])
        #expect(bench.published.map(\.chunk.through?.position) == [25, 50, nil])
        bench.planning.chunkConfirmed(bench.unconfirmed.removeFirst().plan, at: bench.now, into: &bench.actions)
        try bench.answerAll()
        #expect(bench.settled.isEmpty)
        try bench.confirmAll()
        #expect(bench.settled == [PlanningBench.tag(1), PlanningBench.tag(2)])
        #expect(try bench.registry.fanOut(1)?.state == .planned)
        #expect(bench.actions.counts.planned == 1 && bench.actions.counts.chunksPlanned == 3)
        #expect(bench.actions.taken.map(\.tag.number) == [1] && bench.actions.taken.map(\.deviceCount) == [0])
        guard case .planning(let begun) = bench.notices.first, case .planned(let ended) = bench.notices.last else {
            Issue.record("the log has \(bench.notices)")
            return
        }
        #expect(begun.chunksPlanned == 0 && ended.chunksPlanned == 3 && ended.devicesPlanned == 60)
        #expect(bench.planning.planCount == 0)
    }

    @Test("A chunk is in the registry before it is published")
    func savesBeforePublishing() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        var requests: [FanOutPlanning.Question] = []
        while let (plan, question) = bench.takeQuestions().first {
            #expect(bench.actions.publishes.isEmpty)
            requests.append(question)
            try bench.answer(plan, question)
        }
        guard case .fanOut(.begin) = requests.first, case .fanOut(.plan(let chunks, of: 1, planner: 7)) = requests.last
        else {
            Issue.record("asked were \(requests)")
            return
        }
        #expect(bench.actions.publishes.map(\.chunk.chunk) == chunks)
    }

    @Test("Plans of several events go on side by side, one question each at a time")
    func plansSideBySide() throws {
        var bench = PlanningBench()
        bench.begin("1", tags: 1)
        bench.begin("2", tags: 2)
        #expect(bench.actions.questions.map(\.plan) == [1, 2])
        try bench.planAll()
        #expect(Set(bench.settled) == [PlanningBench.tag(1), PlanningBench.tag(2)])
        #expect(bench.published.count { $0.fanOut == 1 } == 3 && bench.published.count { $0.fanOut == 2 } == 3)
    }

    // MARK: The same event again

    @Test("An event that is delivered again makes no second fan-out, while it is planned and afterwards")
    func plansOnce() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        bench.begin(tags: 2)
        #expect(bench.takeQuestions().count == 1, "the second waits for the answer to the first")
        bench = PlanningBench()
        bench.begin(tags: 1)
        bench.begin(tags: 2)
        try bench.answerAll()
        bench.begin(tags: 3)
        #expect(bench.actions.taken.map(\.tag.number) == [1, 2, 3] && bench.actions.taken.last?.deviceCount == 25)
        try bench.planAll()
        #expect(bench.settled.map(\.number) == [1, 2, 3])
        bench.begin(tags: 4)
        try bench.answerAll()
        #expect(bench.settled.map(\.number) == [1, 2, 3, 4] && bench.published.count == 3)
        #expect(bench.actions.counts.found == 1 && bench.actions.counts.planned == 1)
        guard case .found(let fanOut) = bench.notices.last else {
            Issue.record("the log has \(bench.notices)")
            return
        }
        #expect(fanOut.state == .planned)
    }

    @Test("Each delivery of an event whose fan-out is found counts as found")
    func countsFound() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        try bench.planAll()
        bench.begin(tags: 2, 3)
        bench.begin(tags: 4)
        try bench.answerAll()
        #expect(bench.settled.map(\.number) == [1, 2, 3, 4] && bench.actions.counts.found == 2)
        #expect(bench.actions.taken.map(\.tag.number) == [1, 2, 4])
    }

    @Test("A fan-out that is known to be planned or cancelled needs no question, also if the registry can only be read")
    func settlesKnown() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        try bench.answerAll()
        let known = try #require(try bench.registry.cancelFanOut(1, nowMilliseconds: bench.nowMilliseconds))
        var other = PlanningBench()
        other.begin(tags: 2, known: known)
        #expect(other.actions.questions.isEmpty && other.actions.settles == [PlanningBench.tag(2)])
        #expect(other.actions.taken.map(\.tag.number) == [2] && other.actions.taken.map(\.deviceCount) == [25])
        #expect(other.actions.counts.found == 1 && other.actions.notices == [.found(known)])
        bench.begin(tags: 3, known: known)
        #expect(bench.actions.settles == [PlanningBench.tag(3)], "its plan here has not heard of it yet")
    }

    @Test("A fan-out that is cancelled while it is planned is planned no further, and its event is settled")
    func stopsWhenCancelled() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        try bench.answerAll()
        _ = try bench.registry.cancelFanOut(1, nowMilliseconds: bench.nowMilliseconds)
        try bench.confirmAll()
        #expect(bench.published.count == 1 && bench.settled == [PlanningBench.tag(1)])
        guard case .planned(let fanOut) = bench.notices.last else {
            Issue.record("the log has \(bench.notices)")
            return
        }
        #expect(fanOut.state == .cancelled)
    }

    // MARK: Other planners

    @Test("What a planner that ended left behind is gone on with, and what it had written down stays as it was")
    func goesOnPlanning() throws {
        var bench = PlanningBench()
        let begun = try bench.registry.beginFanOut(
            PlanningBench.event(), planner: 1, nowMilliseconds: bench.nowMilliseconds)
        let end = AudienceCursor(position: 8)
        let left = try bench.registry.planChunks(
            [FanOutChunk(number: 1, after: nil, through: end, deviceCount: 7)], of: begun.number, planner: 1,
            nowMilliseconds: bench.nowMilliseconds)
        bench.begin(tags: 1, known: left)
        for _ in 0..<4 {
            bench.pass(milliseconds: 1_000)
            try bench.planAll()
            #expect(bench.published.isEmpty, "the other planner may still be there")
        }
        for _ in 0..<2 {
            bench.pass(milliseconds: 1_000)
            try bench.planAll()
        }
        #expect(bench.published.map(\.chunk.through?.position) == [8, 33, 58, nil])
        #expect(bench.settled == [PlanningBench.tag(1)])
    }

    // MARK: The registry

    @Test("With a registry that cannot be written an event is given back to be served page by page")
    func fallsBackToPages() throws {
        var bench = PlanningBench()
        let error = RegistryError(.readOnly, "The disk is full.")
        bench.registry.failureOfFanOuts = error
        #expect(bench.planning.isPossible(at: bench.now))
        bench.begin(tags: 1, 2)
        bench.begin(tags: 3)
        try bench.answerAll()
        #expect(bench.actions.unplanned.map { $0.events.map(\.number) } == [[1, 3]])
        #expect(bench.actions.unplanned.map { $0.tags.map(\.number) } == [[1, 2, 3]])
        #expect(bench.actions.taken.isEmpty && bench.settled.isEmpty && bench.notices == [.unavailable(error)])
        #expect(bench.planning.nextDeadline == nil)
        #expect(!bench.planning.isPossible(at: bench.now.advanced(byMilliseconds: 59_999)))
        #expect(bench.planning.isPossible(at: bench.now.advanced(byMilliseconds: 60_000)))
    }

    @Test("An event whose fan-out cannot be begun for another reason is asked for again after a while")
    func repeatsBeginning() throws {
        var bench = PlanningBench()
        let error = RegistryError(.unavailable, "locked")
        bench.registry.failureOfFanOuts = error
        bench.begin(tags: 1)
        try bench.answerAll()
        #expect(bench.notices == [.beginningFailed(PlanningBench.event(), error)])
        #expect(bench.actions.counts.registryFailures == 1)
        bench.registry.failureOfFanOuts = nil
        bench.pass(milliseconds: 999)
        #expect(bench.actions.questions.isEmpty)
        #expect(bench.planning.nextDeadline == bench.now.advanced(byMilliseconds: 1))
        bench.pass(milliseconds: 1)
        try bench.planAll()
        #expect(bench.settled == [PlanningBench.tag(1)])
    }

    @Test("A plan survives a failure of any of its questions, and publishes each chunk once", arguments: 0..<12)
    func survivesFailures(_ failing: Int) throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        var asked = 0
        while bench.settled.isEmpty {
            let questions = bench.takeQuestions()
            for (plan, question) in questions {
                if asked == failing {
                    let error = RegistryError(.unavailable, "locked")
                    bench.planning.questionFailed(plan, error, at: bench.now, into: &bench.actions)
                } else {
                    try bench.answer(plan, question)
                }
                asked += 1
            }
            bench.collect()
            if questions.isEmpty { bench.pass(milliseconds: 1_000) }
            let confirmed = bench.unconfirmed
            bench.unconfirmed = []
            for publish in confirmed {
                bench.planning.chunkConfirmed(publish.plan, at: bench.now, into: &bench.actions)
            }
        }
        #expect(bench.published.map(\.chunk.number) == [1, 2, 3])
        #expect(bench.actions.counts.registryFailures == (failing < asked ? 1 : 0))
    }

    @Test("A fan-out that the registry does not know any more is begun anew")
    func beginsAnew() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        let (plan, begin) = try #require(bench.takeQuestions().first)
        try bench.answer(plan, begin)
        _ = bench.takeQuestions()
        let error = RegistryError(.notFound, "There is no fan-out 1.")
        bench.planning.questionFailed(plan, error, at: bench.now, into: &bench.actions)
        guard case .failed(let fanOut, error)? = bench.actions.notices.last else {
            Issue.record("the log has \(bench.actions.notices)")
            return
        }
        #expect(fanOut.number == 1)
        bench.pass(milliseconds: 1_000)
        guard case .fanOut(.begin(PlanningBench.event(), planner: 7))? = bench.actions.questions.first?.question else {
            Issue.record("asked was \(bench.actions.questions)")
            return
        }
        try bench.planAll()
        #expect(bench.settled == [PlanningBench.tag(1)])
    }

    // MARK: The broker, and the end

    @Test("An event of which the broker takes no chunk is rejected, and its plan ends here")
    func rejectsUnplannable() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1, 2)
        try bench.answerAll()
        bench.planning.chunkConfirmed(bench.unconfirmed.removeFirst().plan, at: bench.now, into: &bench.actions)
        try bench.answerAll()
        let plans = bench.unconfirmed.map(\.plan)
        #expect(plans.count == 2)
        bench.planning.rejected(plans[0], detail: "too large", into: &bench.actions)
        let rejection = try #require(bench.actions.rejections.first)
        #expect(rejection.tags == [PlanningBench.tag(1), PlanningBench.tag(2)] && rejection.detail == "too large")
        #expect(rejection.message == Samples.delivery(body: "1").message)
        bench.planning.chunkConfirmed(plans[1], at: bench.now, into: &bench.actions)
        bench.planning.rejected(plans[1], detail: "too large", into: &bench.actions)
        #expect(bench.actions.rejections.count == 1 && bench.settled.isEmpty && bench.planning.planCount == 0)
        #expect(bench.actions.counts.chunksPlanned == 1)
        bench.begin(tags: 3)
        try bench.planAll()
        #expect(bench.settled == [PlanningBench.tag(3)], "a replay goes on with what the registry has")
        #expect(Set(bench.published.map(\.chunk.number)) == [1, 2, 3])
    }

    @Test("A worker that stops takes no further step of a plan, and settles nothing of it")
    func stopsWhenDrained() throws {
        var bench = PlanningBench()
        bench.begin(tags: 1)
        try bench.answerAll()
        bench.begin("2", tags: 2)
        bench.planning.drain()
        try bench.planAll()
        bench.pass(milliseconds: 60_000)
        bench.begin("3", tags: 3)
        #expect(bench.actions.questions.isEmpty && bench.published.count == 1 && bench.settled.isEmpty)
        #expect(bench.planning.nextDeadline == nil)
    }

    // MARK: Subscribers

    @Test("The subscriptions of a record's change are matched once, and newer ones than the fan-out are left out")
    func matchesOnce() throws {
        var bench = PlanningBench()
        let change = RecordChange(
            operation: .created, recordType: "Song", recordName: "r1", fields: RecordFields())
        let event = PlanningBench.largeEvent(
            audience: .record(change, mayHaveClaims: true), excludedDeviceID: "device-3")
        bench.planning.began(event, tags: [PlanningBench.tag(1)], at: bench.now, into: &bench.actions)
        let (plan, _) = try #require(bench.takeQuestions().first)
        var fanOut = FanOut(
            number: 4, event: event.event, newestSubscription: 20, planner: 7, nowMilliseconds: 0)
        bench.planning.answered(plan, .fanOut(fanOut), at: bench.now, into: &bench.actions)
        guard case .findChunk(let search)? = bench.takeQuestions().first?.question else {
            Issue.record("no chunk is searched")
            return
        }
        #expect(search.audience == event.audience && search.event == event.event.digest && search.limit == 25)
        let request = search.subscriberRequest(matching: [3, 20, 21])
        #expect(request.subscriptions == [3, 20] && request.excludedDeviceID == "device-3")
        #expect(request.asOfFanOut == 4 && request.cursor == nil)
        var page = SubscriberPage(subscriptions: [], entries: [], next: AudienceCursor(position: 40, subscription: 3))
        page.entries = [.init(recipient: Samples.device("d"), subscription: 0, coveredBy: 2)]
        let extent = FanOutChunkExtent(page, matching: [3, 20, 21])
        #expect(extent.subscriptions == [2] && extent.deviceCount == 1)
        bench.planning.chunkFound(plan, extent, at: bench.now, into: &bench.actions)
        guard case .fanOut(.plan(let chunks, of: 4, planner: 7))? = bench.takeQuestions().first?.question else {
            Issue.record("no chunk is saved")
            return
        }
        #expect(chunks.first?.through == AudienceCursor(position: 40, subscription: 3))
        fanOut.chunksPlanned = 1
        fanOut.position = chunks.first?.through
        bench.planning.answered(plan, .fanOut(fanOut), at: bench.now, into: &bench.actions)
        bench.planning.chunkConfirmed(plan, at: bench.now, into: &bench.actions)
        fanOut.chunksPublished = 1
        _ = bench.takeQuestions()
        bench.planning.answered(plan, .fanOut(fanOut), at: bench.now, into: &bench.actions)
        guard case .findChunk(let second)? = bench.takeQuestions().first?.question else {
            Issue.record("no second chunk is searched")
            return
        }
        #expect(second.audience == .subscriptions([3, 20, 21]))
        #expect(second.subscriberRequest(matching: [3]).cursor == AudienceCursor(position: 40, subscription: 3))
    }
}
