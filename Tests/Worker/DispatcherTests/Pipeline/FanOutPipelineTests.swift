import ChangeEvents
import Dispatch
import DispatchCore
import Dispatcher
import EventLoop
import Glibc
import Messages
import Metrics
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

/// Large audiences: 60 devices, in chunks of 25 and pages of 10.
@Suite("The way of an event to many devices", .timeLimit(.minutes(10)))
struct FanOutPipelineTests {
    // MARK: Planning

    @Test("A large audience becomes chunks, and reaches those who were there when the event came, each once")
    func servesInChunks() async throws {
        let bench = try bench()
        await plan(bench, event("1"))
        #expect(bench.transport.requests.isEmpty)
        #expect(bench.broker.requeued(in: Self.chunks).count == 3)
        let registry = try bench.registry()
        try registry.register([try registration("late")])
        #expect(try registry.removeDevice("device-30"))
        await serve(bench)
        try await expectEachOnce(bench, 59)
        #expect(!names(bench).contains("late") && !names(bench).contains("device-30"))
        let fanOut = try #require(try registry.fanOuts(before: nil, limit: 2).first)
        #expect(fanOut.state == .done && fanOut.chunksServed == 3 && fanOut.devicesPlanned == 60)
        let text = bench.metrics.render()
        #expect(text.contains("apus_fanouts_planned_total 1\n"))
        #expect(text.contains("apus_fanout_chunks_planned_total 3\n"))
        #expect(text.contains("apus_fanout_chunks_total{outcome=\"served\"} 3\n"))
        bench.stop()
    }

    @Test(
        "An audience that is no larger than the threshold is served whole by the worker that has its event",
        arguments: [20, 21])
    func keepsSmallAudiencesTogether(_ count: Int) async throws {
        let bench = try bench(devices: count)
        await plan(bench, event("1"))
        #expect(bench.transport.requests.count == (count == 20 ? 20 : 0))
        #expect(bench.broker.requeued(in: Self.chunks).count == (count == 20 ? 0 : 1))
        #expect(try bench.registry().fanOuts(before: nil, limit: 10).count == (count == 20 ? 0 : 1))
        await serve(bench)
        try await expectEachOnce(bench, count)
        bench.stop()
    }

    @Test("Events whose devices find no room in their batch are looked up again, and none takes the way by the broker")
    func looksUpAgainWithoutRoom() async throws {
        var limits = limits
        limits.devicesPerBatchWanted = 50
        let bench = try bench(devices: 20, limits: limits)
        bench.broker.deliver((0..<10).map { event("\($0)") })
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: Self.chunks).isEmpty)
        let requests = bench.transport.requests
        #expect(requests.count == 200 && Set(requests.map(\.apnsID)).count == 200)
        bench.stop()
    }

    @Test("An event that is delivered again makes no second fan-out, planned, served, or with few devices left")
    func plansOnce() async throws {
        let bench = try bench()
        await plan(bench, event("1"))
        await plan(bench, event("1"), isRedelivered: true)
        await plan(bench, event("1"))
        #expect(bench.broker.requeued(in: Self.chunks).count == 3)
        await serve(bench)
        await plan(bench, event("1"), isRedelivered: true)
        let registry = try bench.registry()
        for number in 5..<60 { _ = try registry.removeDevice("device-\(number)") }
        await plan(bench, event("1"), isRedelivered: true)
        #expect(bench.broker.requeued(in: Self.chunks).isEmpty)
        try await expectEachOnce(bench)
        #expect(bench.metrics.render().contains("apus_fanouts_redelivered_total 4\n"))
        bench.stop()
    }

    @Test("What a planner that ended left behind is gone on with, and what it had written down stays as it was")
    func goesOnPlanning() async throws {
        let bench = try bench()
        let registry = try bench.registry()
        let digest = EventDigest(source: "test", identifier: "1")
        let event = FanOutEvent(digest: digest, source: "test", identifier: "1", type: "push.requested", app: "chat")
        let now = bench.clock.nowMilliseconds
        let begun = try registry.beginFanOut(event, planner: 1, nowMilliseconds: now)
        let request = AudienceRequest(audience: .topic("news", app: "chat"), asOfFanOut: begun.number)
        let end = try registry.resolve([request], limit: 7)[0].next
        _ = try registry.planChunks(
            [FanOutChunk(number: 1, after: nil, through: end, deviceCount: 7)], of: begun.number, planner: 1,
            nowMilliseconds: now)
        try registry.register([try registration("late")])
        bench.broker.deliver([self.event("1")], isRedelivered: true)
        await bench.settledLoop()
        #expect(bench.broker.unacknowledgedCount == 1, "the other planner may still be there")
        bench.clock.advance(milliseconds: FanOutRules.planningMilliseconds)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let chunks = bench.broker.requeued(in: Self.chunks)
        #expect(chunks.count == 4)
        #expect(chunks.first?.header(RetryHeader.through) == end.map { .int64($0.position) })
        await serve(bench)
        try await expectEachOnce(bench)
        bench.stop()
    }

    @Test("Small events go on while a plan waits for a disk, however long that takes")
    func plansBesideSmallEvents() async throws {
        let bench = try PipelineBench(transport: FakeTransport(), limits: limits)
        let gate = bench.holdWrites()
        try bench.registry().register(try (0..<60).map { try registration("device-\($0)") })
        bench.broker.deliver([event("1")])
        bench.broker.deliver((0..<10).map { PipelineBench.push($0) })
        await bench.broker.wait { $0.unacknowledgedCount == 1 }
        #expect(bench.transport.requests.count == 10 && bench.broker.requeued(in: Self.chunks).isEmpty)
        gate.signal()
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: Self.chunks).count == 3)
        bench.stop()
    }

    @Test("With a registry that cannot be written a large audience is served page by page, and that is logged")
    func fallsBackToPages() async throws {
        let registry = InMemoryRegistry()
        try registry.register(try (0..<60).map { try registration("device-\($0)") })
        registry.failureOfFanOuts = RegistryError(.readOnly, "The disk is full.")
        let bench = try PipelineBench(transport: FakeTransport(), registry: registry, limits: limits)
        await plan(bench, event("1"))
        try await eventually("no chunk to be left") {
            await serve(bench)
            return bench.broker.requeued(in: Self.chunks).isEmpty
        }
        try await expectEachOnce(bench)
        bench.stop()
    }

    @Test("An event that cannot be rendered is one dead letter, and not one for each chunk")
    func rejectsOnce() async throws {
        let bench = try bench()
        await plan(bench, event("1", body: String(repeating: "x", count: 5_000)))
        #expect(bench.broker.requeued(in: "apus.dead-letter").count == 1)
        #expect(bench.broker.requeued(in: Self.chunks).isEmpty)
        bench.stop()
    }

    @Test("An event of which the broker takes no chunk is rejected, and its plan ends here")
    func rejectsUnplannable() async throws {
        let bench = try bench()
        bench.broker.setRejecting(queue: Self.chunks)
        let message = event("1")
        await plan(bench, message)
        #expect(bench.broker.rejectedMessages == [message] && bench.broker.settledTags.isEmpty)
        #expect(bench.metrics.render().contains("apus_dead_letters_total{reason=\"rejected\"} 1\n"))
        bench.stop()
    }

    // MARK: Serving

    @Test("A chunk is rejected after its last page if the broker takes no copy of what has to wait")
    func rejectsChunk() async throws {
        let bench = try bench(
            FakeTransport { request, _ in
                let isFirst = request.token.bytes.elementsEqual("device-0".utf8)
                return .answered(PushAnswer(status: isFirst ? 429 : 200, reason: isFirst ? "TooManyRequests" : ""))
            })
        bench.broker.setRejecting(queue: PipelineBench.retryQueue(1_000))
        await plan(bench, event("1"))
        let chunks = bench.broker.requeued(in: Self.chunks)
        await serve(bench)
        #expect(bench.transport.requests.count == 60)
        #expect(bench.broker.rejectedMessages == [chunks[0]])
        #expect(bench.metrics.render().contains("apus_fanout_chunks_total{outcome=\"served\"} 2\n"))
        #expect(bench.metrics.render().contains("apus_fanout_chunks_total{outcome=\"rejected\"} 1\n"))
        bench.stop()
    }

    @Test("A chunk that is there twice is served once")
    func servesChunkOnce() async throws {
        let bench = try bench()
        await plan(bench, event("1"))
        let chunks = bench.broker.requeued(in: Self.chunks)
        await serve(bench)
        bench.broker.deliver(chunks, deliveryClass: .bulk, isRedelivered: true)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        try await expectEachOnce(bench)
        #expect(bench.metrics.render().contains("apus_fanout_chunks_total{outcome=\"repeated\"} 3\n"))
        bench.stop()
    }

    @Test("A chunk is settled when its last push has ended, and not before")
    func settlesAfterLastPush() async throws {
        let bench = try await plannedBench()
        bench.broker.deliver(Array(bench.broker.requeued(in: Self.chunks).prefix(1)), deliveryClass: .bulk)
        try await waitForRequests(25, bench)
        #expect(bench.broker.unacknowledgedCount == 1)
        answerAll(bench)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.count == 25)
        bench.stop()
    }

    @Test("A worker serves one chunk after the other: of the next no more than a page before the first has ended")
    func servesOneChunkAfterTheOther() async throws {
        let bench = try await plannedBench()
        let registry = try bench.registry()
        let ends = try registry.chunks(of: 1, after: 0, limit: 10).map(\.deviceCount)
        #expect(ends == [25, 25, 10])
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForRequests(35, bench)
        for _ in 0..<5 { await bench.settledLoop() }
        let order = names(bench)
        #expect(order == (0..<35).map { "device-\($0)" })
        #expect(bench.broker.unacknowledgedCount == 3)
        answerAll(bench)
        try await waitForRequests(60, bench)
        await bench.broker.wait { $0.unacknowledgedCount == 2 }
        answerAll(bench)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        try await expectEachOnce(bench)
        bench.stop()
    }

    @Test("The chunks of two apps are served side by side, page by page")
    func servesAppsInTurns() async throws {
        let bench = try PipelineBench(
            transport: FakeTransport { _, _ in nil }, apps: ["chat", "mail"], limits: limits)
        try registerCrowds(bench, apps: ["chat", "mail"])
        await plan(bench, event("1"))
        await plan(bench, event("2", app: "mail"))
        #expect(bench.broker.requeued(in: Self.chunks).count == 6)
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForRequests(70, bench)
        for _ in 0..<5 { await bench.settledLoop() }
        #expect(bench.transport.requests.count == 70)
        for start in stride(from: 0, to: 40, by: 20) {
            let turns = bench.transport.requests[start..<start + 20].map(\.route)
            #expect(turns.count { $0 == 0 } == 10)
        }
        // Two chunks may be settled at once.
        while case let count = bench.broker.unacknowledgedCount, count > 0 {
            try await answerAll(bench, whileUnacknowledged: count)
        }
        #expect(Set(names(bench)).count == 120)
        #expect(names(bench).count == 120)
        bench.stop()
    }

    @Test("An app that APNs does not answer holds up no other's fan-out, and its next chunks wait in a retry queue")
    func parksChunksOfHangingApp() async throws {
        let transport = FakeTransport { request, _ in request.route == 0 ? nil : .answered(PushAnswer(status: 200)) }
        var limits = limits
        limits.pushesInFlightMaximum = 24
        let bench = try PipelineBench(
            transport: transport, apps: ["chat", "mail"], delaysMilliseconds: [5_000, 60_000], limits: limits)
        try registerCrowds(bench, apps: ["chat", "mail"])
        await plan(bench, event("1"))
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForRequests(20, bench)
        await plan(bench, event("2", app: "mail"), unacknowledged: 3)
        // The chunk of the app that hangs has a page that waits for a free slot.
        bench.broker.deliverQueued(in: Self.chunks)
        await bench.broker.wait { $0.unacknowledgedCount == 3 }
        #expect(bench.transport.requests.count { $0.route == 2 } == 60)
        bench.broker.setMissing(true, queue: "apus.retry.5s")
        bench.clock.advance(milliseconds: 5_001)
        try await bench.waitForHealth { $0.contains { $0.contains("apus.retry.5s") } }
        #expect(bench.broker.unacknowledgedCount == 3, "nothing is settled before the broker has its copy")
        bench.broker.setMissing(false, queue: "apus.retry.5s")
        await bench.broker.wait { $0.requeued(in: "apus.retry.5s").count == 2 && $0.unacknowledgedCount == 1 }
        bench.broker.deliverQueued(in: "apus.retry.5s")
        await bench.broker.wait { $0.requeued(in: Self.chunks).count == 2 && $0.unacknowledgedCount == 1 }
        bench.broker.deliverQueued(in: Self.chunks)
        for count in (1...3).reversed() { try await answerAll(bench, whileUnacknowledged: count) }
        while !bench.broker.requeued(in: "apus.retry.5s").isEmpty {
            bench.broker.deliverQueued(in: "apus.retry.5s")
            await bench.broker.wait { $0.unacknowledgedCount == 0 }
            bench.broker.deliverQueued(in: Self.chunks)
            try await bench.turn("the end of all deliveries") {
                answerAll(bench)
            } until: {
                bench.broker.unacknowledgedCount == 0
            }
        }
        #expect(Set(names(bench)).count == 120)
        #expect(names(bench).count == 120)
        let fanOuts = try bench.registry().fanOuts(before: nil, limit: 3)
        #expect(fanOuts.count == 2 && fanOuts.allSatisfy { $0.state == .done && $0.chunksServed == 3 })
        bench.stop()
    }

    @Test("With one app the chunks of a fan-out that APNs does not answer stay where they are")
    func holdsBackNothingOfOnlyApp() async throws {
        let bench = try await plannedBench()
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForRequests(35, bench)
        bench.clock.advance(milliseconds: 60_000)
        bench.broker.deliver([message("no event")])
        await bench.broker.wait { $0.unacknowledgedCount == 3 }
        for _ in 0..<5 { await bench.settledLoop() }
        #expect(bench.broker.unacknowledgedCount == 3)
        #expect(bench.metrics.render().contains("apus_fanout_chunks_total{outcome=\"delayed\"} 0\n"))
        for count in [3, 2, 1] { try await answerAll(bench, whileUnacknowledged: count) }
        try await expectEachOnce(bench)
        bench.stop()
    }

    @Test("Devices of a chunk that have to wait are requeued by their names, and the chunk has ended")
    func parksDevicesOfChunk() async throws {
        let transport = FakeTransport { request, attempt in
            let isBusy = attempt == 1 && request.token.bytes.last == UInt8(ascii: "7")
            return .answered(PushAnswer(status: isBusy ? 429 : 200))
        }
        let bench = try bench(transport)
        await plan(bench, event("1"))
        await serve(bench)
        #expect(try bench.registry().fanOut(1)?.state == .done)
        let requeued = bench.broker.requeued(in: "apus.retry.1s")
        #expect(!requeued.isEmpty && requeued.allSatisfy { $0.header(RetryHeader.fanOut) == nil })
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let names = names(bench)
        #expect(names.count == 66 && Set(names).count == 60)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 60 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A chunk whose end cannot be written down is not settled until it can")
    func recordsBeforeSettling() async throws {
        let bench = try await plannedBench()
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForRequests(35, bench)
        let lock = try bench.lockRegistry()
        answerAll(bench)
        try await eventually("a failure of the registry") {
            await bench.settledLoop()
            return !bench.metrics.render().contains("apus_registry_failures_total 0\n")
        }
        #expect(bench.broker.unacknowledgedCount == 3)
        lock.release()
        for count in [3, 2, 1] { try await answerAll(bench, whileUnacknowledged: count) }
        try await expectEachOnce(bench)
        bench.stop()
    }

    @Test("A worker that is told to stop serves the chunk that it has begun to its end, and no other")
    func drainsBegunChunk() async throws {
        let bench = try await plannedBench(pushesInFlightMaximum: 10)
        let chunks = bench.broker.requeued(in: Self.chunks)
        bench.broker.deliver(Array(chunks.prefix(1)), deliveryClass: .bulk)
        try await waitForRequests(10, bench)
        bench.broker.deliver(Array(chunks.dropFirst()), deliveryClass: .bulk)
        await bench.settledLoop()
        async let outcome = bench.dispatch.drain(timeoutSeconds: 300)
        try await bench.waitForHealth { $0.contains("draining") }
        try await answerAll(bench, whileUnacknowledged: 3)
        let result = await outcome
        #expect(result == .complete)
        #expect(bench.transport.requests.count == 25 && bench.broker.unacknowledgedCount == 2)
        bench.stop()
    }

    // MARK: Cancelling

    @Test("Chunks of a cancelled fan-out that have not begun are not sent, and its event is not planned again")
    func cancelsWaitingChunks() async throws {
        let bench = try bench()
        await plan(bench, event("1"))
        let registry = try bench.registry()
        let first = bench.broker.requeued(in: Self.chunks).prefix(1)
        let rest = bench.broker.requeued(in: Self.chunks).dropFirst()
        bench.broker.deliver(Array(first), deliveryClass: .bulk)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(try registry.cancelFanOut(1, nowMilliseconds: 1)?.state == .cancelled)
        bench.broker.deliver(Array(rest), deliveryClass: .bulk)
        await plan(bench, event("1"), isRedelivered: true)
        try await expectEachOnce(bench, 25)
        let fanOut = try #require(try registry.fanOut(1))
        #expect(fanOut.chunksServed == 1 && fanOut.chunksCancelled == 2)
        #expect(bench.metrics.render().contains("apus_fanout_chunks_total{outcome=\"cancelled\"} 2\n"))
        bench.stop()
    }

    @Test("A chunk under way stops at its next page when its fan-out is cancelled")
    func cancelsChunkUnderWay() async throws {
        let bench = try await plannedBench(pushesInFlightMaximum: 10)
        bench.broker.deliver(Array(bench.broker.requeued(in: Self.chunks).prefix(1)), deliveryClass: .bulk)
        try await waitForRequests(10, bench)
        #expect(try bench.registry().cancelFanOut(1, nowMilliseconds: 1)?.state == .cancelled)
        try await answerAll(bench, whileUnacknowledged: 1)
        #expect(bench.transport.requests.count <= 20)
        #expect(try bench.registry().fanOut(1)?.chunksCancelled == 1)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.isBalanced)
        bench.stop()
    }

    // MARK: Subscribers

    private func subscription(_ identifier: String) -> RecordSubscription {
        RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("crowd"), subscriptionID: identifier), recordType: "Song",
            predicate: .always, savedAtMilliseconds: 0)
    }

    private func song(_ members: String = "") -> Message {
        message(TestEvents.record("r1", name: "r1", more: members))
    }

    @Test("Subscribers of a record are served in chunks: those who subscribed when the event came, each push once")
    func servesSubscribersInChunks() async throws {
        let bench = try bench()
        let registry = try bench.registry()
        func save(_ identifiers: String...) throws {
            for identifier in identifiers {
                var subscription = subscription(identifier)
                subscription.notification.alertBody = "New"
                subscription.notification.shouldBadge = true
                _ = try registry.save([subscription])
            }
        }
        try save("s1", "s2")
        await plan(bench, song(#","deviceId":"device-3""#))
        #expect(bench.broker.requeued(in: Self.chunks).count == 5)
        try save("s3")
        try registry.register([try registration("late")])
        await serve(bench)
        let requests = bench.transport.requests
        #expect(requests.count == 118 && Set(requests.map(\.apnsID)).count == 118)
        #expect(Set(names(bench)).count == 59 && !names(bench).contains("late") && !names(bench).contains("device-3"))
        #expect(try registry.badge(of: "device-9") == 1)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 118 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A device gets one silent push of an event, though its silent subscriptions lie in different chunks")
    func servesSilentPushesOnce() async throws {
        let bench = try bench()
        let registry = try bench.registry()
        var once = subscription("s1")
        once.firesOnce = true
        _ = try registry.save([once, subscription("s2"), subscription("s3")])
        await plan(bench, song())
        await serve(bench)
        #expect(bench.transport.requests.count == 60 && Set(names(bench)).count == 60)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 60 && ledger.coalesced == 120 && ledger.isBalanced)
        bench.stop()
    }
}
