import ChangeEvents
import DispatchCore
import Dispatcher
import EventLoop
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("The way of an event through the worker", .timeLimit(.minutes(10)))
struct PipelineTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let identity = "us-east-1:00000000-0000-0000-0000-000000000001"

    private func event(
        _ identifier: String, type: String = "dataset.changed", count: Int = 1, device: String? = nil,
        identity: String = PipelineTests.identity, dataset: String = "notes"
    ) -> Message {
        TestEvents.message(
            TestEvents.datasetChanged(
                identifier, identity: identity, dataset: dataset, syncCount: count, deviceID: device, type: type))
    }

    private func push(_ identifier: String, tokens: [String], app: String = "chat", options: String = "{}") -> Message {
        TestEvents.message(TestEvents.pushRequested(identifier, to: .tokens(tokens), app: app, options: options))
    }

    private func message(_ body: String) -> Message {
        TestEvents.message(body)
    }

    /// Two devices of one identity, both subscribed to its dataset `notes`.
    private func bench(
        transport: FakeTransport = FakeTransport(), devices: Int = 2, limits: DispatchLimits = DispatchLimits()
    ) throws -> PipelineBench {
        let bench = try PipelineBench(transport: transport, limits: limits)
        try bench.register(
            (0..<devices).map { PipelineBench.device("device-\($0)", identity: Self.identity, pool: Self.pool) },
            dataset: "notes")
        return bench
    }

    @Test("A dataset change reaches every subscribed device but the one that made it, and is acknowledged after that")
    func datasetChange() async throws {
        let transport = FakeTransport { _, _ in nil }
        let bench = try bench(transport: transport, devices: 3)
        bench.broker.deliver([event("1", device: "device-1")])
        await bench.settledLoop()
        #expect(
            Set(transport.requests.map { String(decoding: $0.token.bytes, as: UTF8.self) }) == ["device-0", "device-2"])
        #expect(bench.broker.settledTags.isEmpty)
        transport.answerAll(.answered(PushAnswer(status: 200)))
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 2 && ledger.isBalanced)
        let content = try #require(transport.requests.first?.content)
        #expect(content.pushType == .background && content.priority == .conserving)
        bench.stop()
    }

    @Test("Changes of one dataset that wait together become one push with the newest sync count")
    func coalescing() async throws {
        let bench = try bench()
        bench.broker.deliver([event("1", count: 1), event("2", count: 3), event("3", count: 2)])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.count == 2)
        let payload = String(decoding: try #require(bench.transport.requests.first).content.payload, as: UTF8.self)
        #expect(payload.contains("\"syncCount\":\"3\""))
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.matched == 6 && ledger.coalesced == 4 && ledger.accepted == 2 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A newer change waits until the older one has been answered, so that no older state follows it")
    func oneChangeAtATime() async throws {
        let transport = FakeTransport { _, _ in nil }
        let bench = try bench(transport: transport, devices: 1)
        bench.broker.deliver([event("1", count: 1)])
        await bench.settledLoop()
        bench.broker.deliver([event("2", count: 2)])
        bench.broker.deliver([
            event("3", count: 3), event("4", type: "dataset.deleted", count: 4), event("5", count: 1),
        ])
        await bench.settledLoop()
        #expect(transport.requests.count == 1)
        for _ in 0..<4 {
            transport.answerAll(.answered(PushAnswer(status: 200)))
            await bench.settledLoop()
        }
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let counts = transport.requests.map { request in
            String(decoding: request.content.payload, as: UTF8.self)
                .split(separator: "\"syncCount\":\"").last?.prefix { $0.isNumber } ?? ""
        }
        #expect(counts == ["1", "3", "4", "1"])
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.coalesced == 1 && ledger.accepted == 4 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A push that is throttled comes back from the retry queue for its device alone")
    func retry() async throws {
        let transport = FakeTransport { request, attempt in
            let isThrottled = request.token.bytes == Array("device-1".utf8) && attempt == 1
            return .answered(
                isThrottled ? PushAnswer(status: 429, reason: "TooManyRequests") : PushAnswer(status: 200))
        }
        let bench = try bench(transport: transport)
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 && !$0.requeued(in: "apus.retry.1s").isEmpty }
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.settledTags.count == 2 }
        #expect(transport.requests.count == 3)
        let retried = transport.requests.filter { $0.token.bytes == Array("device-1".utf8) }
        #expect(Set(retried.map(\.apnsID)).count == 1, "every attempt bears the same apns-id")
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 2 && ledger.requeuedForRetry == 1 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A retry of an older state is left out when the device has been told of a newer one since")
    func supersededRetry() async throws {
        let transport = FakeTransport { request, attempt in
            .answered(attempt == 1 ? PushAnswer(status: 429, reason: "TooManyRequests") : PushAnswer(status: 200))
        }
        let bench = try bench(transport: transport, devices: 1)
        bench.broker.deliver([event("1", count: 1)])
        await bench.broker.wait { !$0.requeued(in: "apus.retry.1s").isEmpty }
        bench.clock.advance(milliseconds: 10)
        bench.broker.deliver([event("2", count: 2)])
        await bench.broker.wait { $0.settledTags.count == 2 }
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.settledTags.count == 3 }
        #expect(transport.requests.count == 2)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.coalesced == 1 && ledger.isBalanced)
        bench.stop()
    }

    private func syncCounts(_ requests: [PushRequest]) -> [String] {
        requests.map { request in
            let payload = String(decoding: request.content.payload, as: UTF8.self)
            return String(payload.split(separator: "\"syncCount\":\"").last?.prefix { $0.isNumber } ?? "")
        }
    }

    /// Delivers one event and waits until it is settled.
    private func deliver(_ message: Message, to bench: PipelineBench, isRedelivered: Bool = false) async {
        let settled = bench.broker.settledTags.count
        bench.broker.deliver([message], isRedelivered: isRedelivered)
        await bench.broker.wait { $0.settledTags.count == settled + 1 }
        bench.clock.advance(milliseconds: 700)
    }

    @Test("No count is announced that is not newer than one that was: each is counted as coalesced")
    func olderCountsThatComeLate() async throws {
        let bench = try bench(devices: 1)
        for (index, count) in [7, 3, 7, 9, 2].enumerated() {
            await deliver(event("\(index)", count: count), to: bench)
        }
        #expect(syncCounts(bench.transport.requests) == ["7", "9"])
        let coalesced = "apus_events_total{type=\"dataset.changed\",outcome=\"coalesced\"} 3\n"
        #expect(bench.metrics.render().contains(coalesced))
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.matched == 5 && ledger.coalesced == 3 && ledger.accepted == 2 && ledger.isBalanced)
        await deliver(event("3", count: 9), to: bench, isRedelivered: true)
        #expect(syncCounts(bench.transport.requests) == ["7", "9", "9"], "the broker has it until it is settled")
        await deliver(event("deleted", type: "dataset.deleted", count: 10), to: bench)
        await deliver(event("anew", count: 1), to: bench)
        #expect(syncCounts(bench.transport.requests) == ["7", "9", "9", "10", "1"])
        bench.stop()
    }

    private enum Ending: CaseIterable { case expired, deadLetter, deadToken }

    @Test("A device that a push never reached is told of the same count by another event", arguments: Ending.allCases)
    private func untoldDevice(_ ending: Ending) async throws {
        let (status, reason) =
            switch ending {
            case .expired: (429, "TooManyRequests")
            case .deadLetter: (400, "PayloadEmpty")
            case .deadToken: (410, "Unregistered")
            }
        let bench = try bench(
            transport: FakeTransport { request, attempt in
                let isReached = attempt > 1 || !request.token.bytes.elementsEqual("device-0".utf8)
                guard !isReached else { return .answered(PushAnswer(status: 200)) }
                return .answered(PushAnswer(status: status, reason: reason, deadSinceMilliseconds: 1))
            })
        var first = event("1", count: 7)
        if ending == .expired { first.properties.expiration = "2000" }
        await deliver(first, to: bench)
        bench.clock.advance(milliseconds: 2_000)
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.count == 2, "neither device is tried again")
        var device = PipelineBench.device("device-0", identity: Self.identity, pool: Self.pool)
        // The token lives again, whether it was pruned before this or is after.
        device.registeredAtMilliseconds = bench.clock.nowMilliseconds
        try bench.register([device], dataset: "notes")
        for count in [6, 7, 7] { await deliver(event("again-\(bench.clock.nowMilliseconds)", count: count), to: bench) }
        #expect(told(bench.transport.requests.dropFirst(2)) == ["device-0", "device-0"])
        #expect(syncCounts(Array(bench.transport.requests.dropFirst(2))) == ["6", "7"])
        bench.stop()
    }

    @Test("A device that subscribed after a count was announced is told of that count by another event")
    func lateDevice() async throws {
        let bench = try bench(devices: 1)
        await deliver(event("1", count: 7), to: bench)
        try bench.register(
            [PipelineBench.device("late", identity: Self.identity, pool: Self.pool)], dataset: "notes")
        await deliver(event("2", count: 7), to: bench)
        #expect(told(bench.transport.requests[...]) == ["device-0", "late"])
        bench.stop()
    }

    @Test("A retry that was accepted after a deletion is not held against the counts that start again")
    func retryAfterDeletion() async throws {
        let bench = try bench(
            transport: FakeTransport { _, attempt in
                .answered(PushAnswer(status: attempt == 1 ? 429 : 200, reason: attempt == 1 ? "TooManyRequests" : ""))
            }, devices: 1)
        await deliver(event("1", count: 500), to: bench)
        await deliver(event("deleted", type: "dataset.deleted", count: 501), to: bench)
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        await deliver(event("anew", count: 1), to: bench)
        #expect(syncCounts(bench.transport.requests) == ["500", "501", "500", "1"])
        bench.stop()
    }

    private func told(_ requests: ArraySlice<PushRequest>) -> [String] {
        requests.map { String(decoding: $0.token.bytes, as: UTF8.self) }
    }

    @Test("The device that made the newest change is told of an older one of another device")
    func olderCountForTheMaker() async throws {
        let bench = try bench(devices: 3)
        await deliver(event("1", count: 9, device: "device-0"), to: bench)
        await deliver(event("2", count: 7, device: "device-1"), to: bench)
        await deliver(event("3", count: 7, device: "device-1"), to: bench)
        #expect(told(bench.transport.requests.dropFirst(2)) == ["device-0"])
        bench.stop()
    }

    @Test("Broken events of every kind reach the dead letters with a reason, and the others go on")
    func brokenEvents() async throws {
        let bench = try bench()
        var unknownPool = event("9")
        unknownPool.body = Array(
            String(decoding: unknownPool.body, as: UTF8.self).replacing(Self.pool, with: "eu-west-1:0").utf8)
        let broken: [(Message, String)] = [
            (message("{"), "invalid-json"), (message("{}"), "missing-field"),
            (Message(properties: message("").properties, body: [0xFF, 0xFE]), "invalid-utf8"),
            (event("3", type: "dataset.exploded"), "unknown-type"),
            (event("4", type: "record.created"), "unknown-field"),
            (push("5", tokens: ["00ff"], app: "nobody"), "unknown-app"), (unknownPool, "unknown-app"),
            (push("6", tokens: ["0"]), "invalid-field"),
            (
                push("7", tokens: ["00ff"], options: "{\"collapseId\":\"\(String(repeating: "x", count: 65))\"}"),
                "invalid-field"
            ),
            (message(String(repeating: "[", count: 100) + String(repeating: "]", count: 100)), "too-deep"),
            (
                Message(properties: message("").properties, body: Array(repeating: 32, count: 5_000_000)),
                "body-too-large"
            ),
        ]
        bench.broker.deliver(broken.map(\.0) + [event("good")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let reasons = bench.broker.requeued(in: "apus.dead-letter").map { message -> String in
            guard case .string(let reason) = message.header(RetryHeader.reason) else { return "none" }
            return reason
        }
        #expect(reasons == broken.map(\.1))
        #expect(bench.broker.requeued(in: "apus.dead-letter").map(\.body) == broken.map(\.0.body))
        #expect(bench.transport.requests.count == 2)
        bench.stop()
    }

    @Test("A notification that APNs would refuse is rejected although no device is matched")
    func invalidNotificationWithoutDevices() async throws {
        let bench = try bench()
        let messages = [
            #"{"contentState":{},"body":"b"}"#, #"{"boddy":"b"}"#,
            "{\"body\":\"\(String(repeating: "x", count: 5_000))\"}",
            #"{"body":"b"}"#,
        ].enumerated().map { index, notification in
            message(
                TestEvents.pushRequested(
                    "n\(index)", to: .users(["nobody"]), notification: notification,
                    options: #"{"pushType":"alert"}"#))
        }
        bench.broker.deliver(messages)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let letters = bench.broker.requeued(in: "apus.dead-letter")
        #expect(letters.map(\.body) == messages.prefix(3).map(\.body))
        #expect(bench.transport.requests.isEmpty)
        bench.stop()
    }

    @Test("A registry that is locked makes events wait, unacknowledged, and they go on when it answers")
    func lockedRegistry() async throws {
        let bench = try bench()
        try bench.subscribeToFutureDatasets("device-0")
        let lock = try bench.lockRegistry()
        // A dataset that the registry has yet to record, which needs the lock that another process holds.
        bench.broker.deliver([event("1", dataset: "fresh")])
        try await bench.waitForHealth { problems in problems.contains { $0.contains("registry") } }
        #expect(bench.broker.settledTags.isEmpty && bench.broker.unacknowledgedCount == 1)
        lock.release()
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.count == 1)
        bench.stop()
    }

    @Test("When a retry queue is missing the delivery is kept until the requeued message is confirmed")
    func missingRetryQueue() async throws {
        let transport = FakeTransport { _, attempt in
            .answered(attempt == 1 ? PushAnswer(status: 429) : PushAnswer(status: 200))
        }
        let bench = try bench(transport: transport, devices: 1)
        bench.broker.setMissing(true, queue: "apus.retry.1s")
        bench.broker.deliver([event("1")])
        try await bench.waitForHealth { problems in problems.contains { $0.contains("apus.retry.1s") } }
        #expect(bench.broker.unacknowledgedCount == 1)
        bench.broker.setMissing(false, queue: "apus.retry.1s")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: "apus.retry.1s").count == 1)
        bench.stop()
    }

    @Test("An audience up to the threshold is served by the worker that has its event, each device once")
    func servesWholeAudiences() async throws {
        let bench = try bench(devices: 1_000)
        bench.broker.deliver([event("1", device: "device-7")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: "apus.fanout").isEmpty)
        try await expectAccepted(999, of: bench)
        bench.stop()
    }

    @Test("An audience below the threshold that is larger than a batch is continued page by page, each device once")
    func continuesWithoutRoom() async throws {
        var limits = DispatchLimits()
        limits.fanOutThresholdDevices = 1_100
        limits.devicesPerBulkPageMaximum = 250
        limits.devicesPerBatchWanted = 1_000
        let bench = try bench(devices: 1_100, limits: limits)
        bench.broker.deliver([event("1", device: "device-7")])
        var pages = 1
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        while !bench.broker.requeued(in: "apus.fanout").isEmpty {
            bench.broker.deliverQueued(in: "apus.fanout")
            pages += 1
            await bench.broker.wait { $0.unacknowledgedCount == 0 }
        }
        #expect(pages == 2)
        try await expectAccepted(1_099, of: bench)
        bench.stop()
    }

    private func expectAccepted(_ count: Int, of bench: PipelineBench) async throws {
        let tokens = bench.transport.requests.map(\.token)
        #expect(tokens.count == count && Set(tokens).count == count)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == count && ledger.isBalanced)
    }

    @Test("An identity with 40,000 devices is served in chunks that are bounded, each device once")
    func identityOfManyDevices() async throws {
        let count = 40_000
        let bench = try PipelineBench(transport: FakeTransport())
        try bench.registerAtOnce(
            (0..<count).map { PipelineBench.device("device-\($0)", identity: Self.identity, pool: Self.pool) },
            dataset: "notes")
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.isEmpty)
        let chunks = bench.broker.requeued(in: "apus.fanout")
        #expect(chunks.count == count / DispatchLimits().devicesPerChunkMaximum)
        bench.broker.deliverQueued(in: "apus.fanout")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        try await expectAccepted(count, of: bench)
        bench.stop()
    }

    @Test("Draining finishes what was begun and leaves the rest to the broker")
    func draining() async throws {
        let transport = FakeTransport { _, _ in nil }
        let bench = try bench(transport: transport)
        bench.broker.deliver([event("1")])
        await bench.settledLoop()
        async let outcome = bench.dispatch.drain(timeoutSeconds: 600)
        try await bench.waitForHealth { $0.contains("draining") }
        bench.broker.deliver([event("2", count: 5)])
        await bench.settledLoop()
        transport.answerAll(.answered(PushAnswer(status: 200)))
        let result = await outcome
        #expect(result == .complete)
        #expect(bench.broker.settledTags.count == 1 && bench.broker.unacknowledgedCount == 1)
        bench.stop()
    }
}
