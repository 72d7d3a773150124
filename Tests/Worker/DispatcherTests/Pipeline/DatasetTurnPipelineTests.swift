import ChangeEvents
import DispatchCore
import Dispatcher
import EventLoop
import Messages
import Notifications
import PushTestKit
import Testing

/// Datasets with 60 devices, which are served in chunks of 25 and pages of 10, and with two.
@Suite("The turns of events of one dataset", .timeLimit(.minutes(10)))
struct DatasetTurnPipelineTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let identity = "us-east-1:00000000-0000-0000-0000-000000000001"
    private static let retryQueues = ["apus.retry.1s", "apus.retry.1m"]
    private static let chunks = "apus.fanout"

    private func event(
        _ identifier: String, type: String = "dataset.changed", count: Int = 1, dataset: String = "large",
        expiresAfterMilliseconds expiration: Int? = nil
    ) -> Message {
        let merged = type == "datasets.merged" ? #","mergedDatasetNames":["other"]"# : ""
        var message = TestEvents.message(
            TestEvents.event(
                identifier, type,
                #"{"identityPoolId":"\#(Self.pool)","identityId":"\#(Self.identity)","#
                    + #""datasetName":"\#(dataset)","syncCount":\#(count)\#(merged)}"#))
        message.properties.expiration = expiration.map { String($0) }
        return message
    }

    private func bench(_ transport: FakeTransport = FakeTransport()) throws -> PipelineBench {
        var limits = DispatchLimits()
        limits.devicesPerPageMaximum = 10
        limits.devicesPerBulkPageMaximum = 10
        limits.bulkDevicesWaitingMaximum = 0
        limits.fanOutThresholdDevices = 20
        limits.devicesPerChunkMaximum = 25
        let bench = try PipelineBench(transport: transport, limits: limits)
        for (dataset, count) in [("large", 60), ("small", 2)] {
            let devices = (0..<count).map {
                PipelineBench.device("\(dataset)-\($0)", identity: Self.identity, pool: Self.pool)
            }
            try bench.registerAtOnce(devices, dataset: dataset)
        }
        return bench
    }

    private func waitForNothing(unacknowledgedBy bench: PipelineBench) async throws {
        try await eventually("all deliveries to be settled", equals: 0, within: .seconds(60)) {
            await bench.settledLoop()
            return bench.broker.unacknowledgedCount
        }
    }

    /// A retry of an event of the dataset, as a retry queue holds it.
    private func retry(_ bench: PipelineBench) -> Message {
        let message = event("0")
        var retryState = RetryState(
            of: Delivery(
                tag: DeliveryTag(epoch: 1, number: 1), deliveryClass: .interactive, isRedelivered: false,
                exchange: "apus.changes",
                routingKey: "test", message: message), nowMilliseconds: bench.clock.nowMilliseconds)
        retryState.attempt = 1
        retryState.deviceIDs = ["large-3"]
        return retryState.requeuedCopy(of: message, reason: "throttled", detail: "")
    }

    @Test("What comes together with the change of a large dataset takes its turn, and so do the chunks of both")
    func goesOnAfterPlan() async throws {
        for type in ["dataset.deleted", "datasets.merged"] {
            let bench = try bench()
            bench.broker.deliver([event("1", count: 7), event("2", type: type, count: 8)])
            try await waitForNothing(unacknowledgedBy: bench)
            #expect(bench.broker.requeued(in: Self.chunks).count == 6)
            bench.broker.deliverQueued(in: Self.chunks)
            try await waitForNothing(unacknowledgedBy: bench)
            #expect(bench.transport.requests.count == 120)
            bench.stop()
        }
    }

    @Test("A retry that comes together with a change of its large dataset takes its turn")
    func retriesBesidePlan() async throws {
        let bench = try bench()
        let retry = retry(bench)
        #expect(retry.isOwnCopy(publishedTo: ""))
        // A batch is what comes in one turn of the loop.
        try await bench.loop.run {
            bench.broker.deliver([event("1", count: 7)])
            bench.broker.deliver([retry], exchange: "")
        }
        try await waitForNothing(unacknowledgedBy: bench)
        bench.broker.deliverQueued(in: Self.chunks)
        try await waitForNothing(unacknowledgedBy: bench)
        bench.stop()
    }

    @Test("A worker that is told to stop serves a begun chunk of a dataset to its end")
    func drainsBegunChunk() async throws {
        let bench = try bench(FakeTransport { _, _ in nil })
        bench.broker.deliver([event("1", count: 7)])
        try await waitForNothing(unacknowledgedBy: bench)
        bench.broker.deliver(Array(bench.broker.requeued(in: Self.chunks).prefix(1)), deliveryClass: .bulk)
        try await eventually("the first page", equals: 10) {
            await bench.settledLoop()
            return bench.transport.requests.count
        }
        async let outcome = bench.dispatch.drain(timeoutSeconds: 300)
        try await bench.waitForHealth { $0.contains("draining") }
        // Until a page has ended the next one waits for its turn.
        try await bench.turn("an end of the chunk") {
            bench.transport.answerAll(.answered(PushAnswer(status: 200)))
        } until: {
            bench.transport.requests.count == 25 && bench.broker.unacknowledgedCount == 0
        }
        #expect(await outcome == .complete)
        bench.stop()
    }

    // MARK: Random events

    private func randomEvent(_ number: Int, _ random: inout SeededGenerator) -> Message {
        let types = ["dataset.changed", "dataset.changed", "dataset.changed", "dataset.deleted", "datasets.merged"]
        let type = types.randomElement(using: &random) ?? types[0]
        let dataset = ["large", "large", "small", "empty"].randomElement(using: &random) ?? "large"
        let expiration = [nil, nil, nil, 1, 1_500].randomElement(using: &random) ?? nil
        return event(
            "\(number)", type: type, count: .random(in: 0...9, using: &random), dataset: dataset,
            expiresAfterMilliseconds: expiration)
    }

    /// Lets random events, retries and chunks meet, and the connection to the broker be lost among them.
    private func mix(_ bench: PipelineBench, _ random: inout SeededGenerator) async throws {
        var number = 0
        for _ in 0..<30 {
            let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                number += 1
                return randomEvent(number, &random)
            }
            let isRedelivered = Bool.random(using: &random)
            let queues = (Self.retryQueues + [Self.chunks]).shuffled(using: &random)
                .prefix(Int.random(in: 0...3, using: &random))
            let isLost = Int.random(in: 0..<6, using: &random) == 0
            try await bench.loop.run {
                bench.broker.deliver(events, isRedelivered: isRedelivered)
                for queue in queues { bench.broker.deliverQueued(in: queue) }
                if isLost { bench.broker.reconnect() }
            }
            bench.clock.advance(milliseconds: .random(in: 0...2_000, using: &random))
            if Bool.random(using: &random) { await bench.settledLoop() }
        }
    }

    @Test("Whatever events of a dataset come together, and however their pushes end, each is settled", arguments: 1...4)
    func settlesAll(_ seed: UInt64) async throws {
        let bench = try bench(
            FakeTransport { request, attempt in
                let status = [200, 200, 429, 200, 400, 200, 200][(Int(request.token.bytes.last ?? 0) + attempt) % 7]
                return .answered(PushAnswer(status: status, reason: status == 400 ? "PayloadEmpty" : ""))
            })
        var random = SeededGenerator(seed: seed)
        try await mix(bench, &random)
        try await eventually("all to be settled, and nothing to be requeued", within: .seconds(60)) {
            for queue in Self.retryQueues + [Self.chunks] { bench.broker.deliverQueued(in: queue) }
            bench.clock.advance(milliseconds: 1_000)
            await bench.settledLoop()
            return (Self.retryQueues + [Self.chunks]).map { bench.broker.requeued(in: $0).count }
                + [bench.broker.unacknowledgedCount]
        } until: {
            $0 == [0, 0, 0, 0]
        }
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.isBalanced && ledger.inFlight == 0)
        bench.stop()
    }
}
