import AMQP
import ChangeEvents
import ChangeQueue
import EventLoop
import Messages
import PushTestKit
import Testing

@Suite("The topology")
struct TopologyTests {
    @Test("Retry queues are named by the largest unit that divides their delay")
    func namesRetryQueues() {
        let names = QueueNames(namespace: "apus")
        let cases: [(Int64, String)] = [
            (1, "1ms"), (1_500, "1500ms"), (1_000, "1s"), (90_000, "90s"), (120_000, "2m"), (3_600_000, "1h"),
            (86_400_000, "24h"),
        ]
        for (delay, suffix) in cases { #expect(names.retry(delayMilliseconds: delay) == "apus.retry.\(suffix)") }
    }

    @Test("Checking finds all missing, applying makes them, and both then find all present")
    func applies() async throws {
        let queue = try await TestQueue.make(retryDelaysMilliseconds: [1_000, 120_000], isApplied: false)
        let missing = try await queue.topology.check(queue.configuration)
        #expect(missing.count == 7)
        #expect(missing.allSatisfy { $0.status == .missing })
        let created = try await queue.topology.apply(to: queue.configuration)
        #expect(created.allSatisfy { $0.status == .created })
        #expect(try await queue.topology.apply(to: queue.configuration).allSatisfy { $0.status == .present })
        #expect(try await queue.topology.check(queue.configuration).allSatisfy { $0.status == .present })
        #expect(created.map(\.object) == queue.topology.objects)
        try await queue.remove()
    }

    @Test("A binding that the broker has lost is made again, and until then no event is confirmed")
    func bindsAgain() async throws {
        let queue = try await TestQueue.make()
        try await queue.broker.removeBindings(from: queue.names.changes)
        #expect(try await queue.publish(queue.messages(0..<1))[0]?.isReturned == true)
        _ = try await queue.topology.apply(to: queue.configuration)
        #expect(try await queue.publish(queue.messages(0..<1)) == [0: .confirmed])
        try await queue.remove()
    }

    @Test("A queue with another argument is reported with what is there and what is wanted, and the rest is made")
    func reportsDifferences() async throws {
        let queue = try await TestQueue.make(retryDelaysMilliseconds: [1_000], isApplied: false)
        let names = queue.names
        let broker = queue.broker
        try await Self.withSession(broker) { session in
            try session.declareQueue(
                names.retry(delayMilliseconds: 1_000),
                arguments: [
                    MessageHeader("x-queue-type", .string("quorum")),
                    MessageHeader("x-dead-letter-exchange", .string("")),
                    MessageHeader("x-dead-letter-routing-key", .string(names.work)),
                    MessageHeader("x-dead-letter-strategy", .string("at-least-once")),
                    MessageHeader("x-overflow", .string("reject-publish")),
                    MessageHeader("x-message-ttl", .int64(2_000)),
                ])
            try session.declareQueue(
                names.deadLetter, arguments: [MessageHeader("x-queue-type", .string("quorum"))])
            try session.declareExchange(names.changes, type: "fanout")
        }
        let findings = try await queue.topology.apply(to: queue.configuration)
        let statuses = Dictionary(uniqueKeysWithValues: findings.map { ($0.object.name, $0.status) })
        #expect(
            statuses[names.retry(delayMilliseconds: 1_000)]
                == .different(argument: "x-message-ttl", actual: "2000", wanted: "1000"))
        #expect(statuses[names.changes] == .different(argument: "type", actual: "fanout", wanted: "topic"))
        guard case .different("x-delivery-limit", "not set", _) = statuses[names.deadLetter] else {
            Issue.record("\(String(describing: statuses[names.deadLetter]))")
            return
        }
        #expect(statuses[names.fanout] == .created)
        try await queue.remove()
    }

    @Test("A message in a retry queue goes back to work when its time has come, as it was")
    func retries() async throws {
        let queue = try await TestQueue.make(retryDelaysMilliseconds: [200])
        var message = Message(body: Array("again".utf8))
        message.headers = [MessageHeader(RetryHeader.attempt, .int64(2))]
        message.properties.messageID = "id"
        let outcomes = try await queue.publish([
            OutgoingMessage(
                identifier: 1, exchange: "", routingKey: queue.names.retry(delayMilliseconds: 200), message: message)
        ])
        #expect(outcomes == [1: .confirmed])
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 1 })
        let delivered = try #require(log.state.value.deliveries.first?.message)
        #expect(delivered.body == message.body)
        #expect(delivered.properties.messageID == "id")
        #expect(delivered.header(RetryHeader.attempt) == .int64(2))
        await consumer.close()
        try await queue.remove()
    }

    @Test("A broker that refuses the password, or that is not there, is an error of its own")
    func saysWhyNot() async throws {
        let port = try await PrivateRabbitMQ.shared().port
        let topology = Topology(namespace: "x", retryDelaysMilliseconds: [])
        let refused = try BrokerConfiguration(urls: ["amqp://guest:wrong@127.0.0.1:\(port)/"])
        await #expect { try await topology.check(refused) } throws: {
            ($0 as? ChangeQueueError)?.code == .refused
        }
        let unreachable = try BrokerConfiguration(urls: ["amqp://127.0.0.1:1/"])
        await #expect { try await topology.check(unreachable) } throws: {
            ($0 as? ChangeQueueError)?.code == .unavailable
        }
    }

    private static func withSession(
        _ broker: PrivateRabbitMQ, _ body: @escaping @Sendable (AMQPSession) throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stopAndJoin() }
        let url = broker.url
        try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(url), options: AMQPOptions())
            defer { session.close() }
            try body(session)
        }
    }
}
