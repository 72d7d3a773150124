import ChangeEvents
import EventLoop
import Metrics
import PushTestKit
import StructuredLogging
import Testing

@testable import ChangeQueue

/// The differences of newer versions of RabbitMQ, by their sources.
@Suite("A consumer of a newer RabbitMQ")
struct VersionBehaviourTests {
    private struct Setting {
        let broker: ScriptedBroker
        let consumer: ChangeConsumer
        let log = DeliveryLog()
        let lines = Watched<[String]>([])

        init(_ script: ScriptedBroker.Script) async throws {
            broker = try await ScriptedBroker(script)
            var configuration = try BrokerConfiguration(urls: [broker.url], namespace: "test")
            configuration.reconnectBaseSeconds = 0.01
            let lines = lines
            consumer = try ChangeConsumer(
                configuration: configuration,
                logger: Logger(minimum: .debug) { _, event, fields in
                    lines.update { $0.append("\(event) \(fields.map { "\($0.name)=\($0.value)" })") }
                }, metrics: MetricsRegistry())
            consumer.start(handler: log)
        }

        func stop() async throws {
            await consumer.close()
            try await broker.stop()
        }
    }

    @Test("Where looking at a queue asks for the permission configure (4.2.6), it is consumed all the same, and said")
    func consumesUnseen() async throws {
        let setting = try await Setting(.init(version: "4.2.6", unseenSuffixes: [""]))
        #expect(await setting.log.state.wait { $0.deliveries.count == 1 })
        #expect(setting.log.state.value.isConsuming)
        #expect(setting.broker.facts.value.consumedQueues == ["test.fanout", "test.work"])
        let unseen = setting.lines.value.filter { $0.hasPrefix("amqp.queue.unseen") }
        #expect(unseen.count == 2 && unseen.allSatisfy { $0.contains("4.2.7") }, "\(unseen)")
        setting.consumer.settle(setting.log.state.value.deliveries.map(\.tag))
        #expect(await setting.broker.facts.wait { $0.acknowledged == [[1, 1]] })
        try await setting.stop()
    }

    @Test("A queue that may not be looked at is named, hides no other, and is not taken for missing")
    func refusedQueueHidesNoOther() async throws {
        let broker = try await ScriptedBroker(.init(version: "4.3.6", unseenSuffixes: [".retry.1s", ".dead-letter"]))
        let configuration = try BrokerConfiguration(urls: [broker.url], namespace: "test")
        let reader = try await QueueDepthReader.connect(configuration, retryDelaysMilliseconds: [1_000, 5_000])
        let counts = try await reader.readEach()
        #expect(counts.queues.map(\.name) == ["test.work", "test.retry.5s", "test.fanout"])
        #expect(counts.queues.allSatisfy { $0.messageCount == 1 })
        let refusal = try #require(counts.refusal)
        #expect(refusal.contains("guest may not look at test.retry.1s, test.dead-letter; `apus topology permissions`"))
        let depths = try await reader.read()
        #expect(depths.work == 1 && depths.retry == 1 && depths.deadLetters == 0 && depths.refusal == refusal)
        await reader.close()
        let topology = Topology(namespace: "test", retryDelaysMilliseconds: [1_000, 5_000])
        #expect(try await topology.findMissing(at: configuration).isEmpty)
        try await broker.stop()
    }

    @Test("A consumer that the broker ends for its timeout (4.3) consumes again, names the cause, needs no operator")
    func consumesAgainAfterTimeout() async throws {
        let setting = try await Setting(.init(version: "4.3.3", timesFirstConsumerOut: true))
        #expect(await setting.log.state.wait { $0.deliveries.count == 2 })
        let state = setting.log.state.value
        #expect(state.deliveries.map(\.isRedelivered) == [false, true])
        guard state.states.count == 3, case .interrupted(let reason) = state.states[1] else {
            Issue.record("\(state.states)")
            return
        }
        #expect(reason.contains("consumer_timeout") && reason.contains("test.work"))
        #expect(state.isConsuming && state.epoch == 2)
        // The deliveries of the first consumer are settled too late: no acknowledgement may name them on the new
        // channel.
        setting.consumer.settle(state.deliveries.map(\.tag))
        await setting.consumer.cancel()
        await setting.consumer.close()
        #expect(setting.broker.facts.value.acknowledged == [[2, 1]])
        try await setting.broker.stop()
    }

    @Test("While a closing consumer gives the broker time for its acknowledgements, its loop goes on and settles")
    func settlesWhileClosing() async throws {
        let broker = try await ScriptedBroker(.init(version: "4.0.5"))
        let loop = try EventLoop(name: "consumer")
        let log = DeliveryLog()
        let consumer = LoopBound(
            ConsumerCore(
                configuration: try BrokerConfiguration(urls: [broker.url], namespace: "test"), loop: loop,
                logger: .silent, metrics: MetricsRegistry()), to: loop)
        loop.submit { consumer.value.start(handler: log) }
        #expect(await log.state.wait { $0.deliveries.count == 1 })
        await withCheckedContinuation { continuation in
            loop.submit { consumer.value.cancel { continuation.resume() } }
        }
        let tags = log.state.value.deliveries.map(\.tag)
        await withCheckedContinuation { continuation in
            loop.submit { consumer.value.close { continuation.resume() } }
            loop.submit { consumer.value.settle(tags) }
        }
        #expect(broker.facts.value.acknowledged == [[1, 1]])
        loop.stopAndJoin()
        try await broker.stop()
    }
}
