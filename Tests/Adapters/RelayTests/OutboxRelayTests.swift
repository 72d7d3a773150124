import ChangeEvents
import ChangeQueue
import DispatchCore
import Messages
import Metrics
import PushTestKit
import StructuredLogging
import Synchronization
import Testing

@testable import Relay

@Suite("The relay of an outbox", .timeLimit(.minutes(10)))
struct OutboxRelayTests {
    private static func relay(
        _ outbox: TestOutbox, _ publisher: any MessagePublisher, exchange: String = "apus.changes", batch: Int = 100
    ) throws -> OutboxRelay {
        try OutboxRelay(
            url: outbox.url, batch: batch, exchange: exchange, publisher: publisher, apps: [],
            metrics: MetricsRegistry(), logger: .silent)
    }

    @Test("Rows are deleted when their events are confirmed; what makes no event is set aside with its reason")
    func deletesAndSetsAside() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.publish(1...3)
        try await outbox.run("SELECT apus_outbox.publish('push.requested', '{\"app\": 7}', id => 'bad')")
        let publisher = StubPublisher()
        let relay = try Self.relay(outbox, publisher)
        relay.start()
        let messages = await publisher.published.wait { $0.count == 3 } ? publisher.published.value : []
        #expect(messages.map(\.message.properties.messageID) == ["1", "2", "3"])
        #expect(messages.allSatisfy { $0.exchange == "apus.changes" && $0.routingKey.contains("push.requested") })
        try await eventually("the rows to be gone") { try await outbox.rowCount() == 0 }
        let refused = try await outbox.run("SELECT event ->> 'id', reason FROM apus_outbox.refused")
        #expect(refused.hasPrefix("bad|invalid-field") && refused.contains("data.app"), "\(refused)")
        #expect(await relay.stop(withinSeconds: 60))
    }

    @Test("Rows that RabbitMQ refuses stay, and come again")
    func staysWhenRefused() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.publish(1...3)
        let publisher = StubPublisher { $0 == 1 ? .refused : .confirmed }
        let relay = try Self.relay(outbox, publisher)
        relay.start()
        #expect(await publisher.published.wait { $0.count == 6 })
        try await eventually("the rows to be gone") { try await outbox.rowCount() == 0 }
        #expect(Set(publisher.published.value.prefix(3).map(\.identifier)).count == 3)
        #expect(await relay.stop(withinSeconds: 60))
    }

    @Test("While RabbitMQ cannot be reached nothing is taken, and the table is the buffer")
    func waits() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.publish(1...3)
        let publisher = StubPublisher(isReady: false)
        let relay = try Self.relay(outbox, publisher)
        relay.start()
        #expect(relay.health.brokerProblem != nil)
        #expect(try await outbox.run("SELECT count(*) FROM apus_outbox.take(10)") == "3")
        publisher.becomeReady()
        #expect(await publisher.published.wait { $0.count == 3 })
        try await eventually("the health to be good") {
            relay.health.brokerProblem == nil && relay.health.outboxProblem == nil
        }
        #expect(await relay.stop(withinSeconds: 60))
    }

    @Test("Every committed row reaches a queue of RabbitMQ though PostgreSQL ends the relay's sessions meanwhile")
    func reachesRabbitMQ() async throws {
        let outbox = try await TestOutbox.make()
        let broker = try await PrivateRabbitMQ.shared()
        let configuration = try BrokerConfiguration(
            urls: [broker.url], namespace: PrivateRabbitMQ.makeNamespace(), prefetch: 1_000, workQueueCount: 1)
        let names = configuration.names
        _ = try await Topology(namespace: names.namespace, retryDelaysMilliseconds: [], workQueueCount: 1)
            .apply(to: configuration)
        let relays = try (0..<2).map { _ in
            try Self.relay(
                outbox,
                ConfirmedPublisher(configuration: configuration, logger: .silent, metrics: MetricsRegistry()),
                exchange: names.changes, batch: 50)
        }
        for relay in relays { relay.start() }
        for first in stride(from: 1, through: 2_000, by: 200) {
            try await outbox.publish(first...(first + 199))
            try await outbox.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'apus' "
                    + "AND datname = current_database()")
        }
        try await eventually("all rows to be moved") { try await outbox.rowCount() == 0 }
        for relay in relays { #expect(await relay.stop(withinSeconds: 60)) }
        let count = try await broker.messageCount(queue: names.work)
        // At least once: a session that ends between the confirm and the deletion makes copies.
        #expect(count >= 2_000 && count < 4_000)
        let consumer = try ChangeConsumer(configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let log = IdentifierLog { consumer.settle($0) }
        consumer.start(handler: log)
        #expect(await log.identifiers.wait { $0.count == 2_000 })
        await consumer.cancel()
        await consumer.close()
    }
}
