import ChangeEvents
import ChangeQueue
import DispatchCore
import Essentials
import Messages
import Metrics
import Notifications
import Predicates
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
        // Of one key, whose order is kept although two batches take turns.
        try await outbox.publish(1...3, key: "mei")
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
        publisher.become(ready: true)
        #expect(await publisher.published.wait { $0.count == 3 })
        try await eventually("the health to be good") {
            relay.health.brokerProblem == nil && relay.health.outboxProblem == nil
        }
        #expect(await relay.stop(withinSeconds: 60))
    }

    @Test("While RabbitMQ cannot be reached, how long rows have waited is known, and grows")
    func lag() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.publish(1...1)
        let metrics = MetricsRegistry()
        let publisher = StubPublisher(isReady: false)
        let relay = try OutboxRelay(
            url: outbox.url, batch: 10, exchange: "apus.changes", publisher: publisher, apps: [], metrics: metrics,
            logger: .silent)
        func value(_ series: String) -> Double? {
            metrics.render().split(separator: "\n").first { $0.hasPrefix(series + " ") }
                .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
        }
        func lagSeconds() -> Double? { value("apus_relay_lag_seconds") }
        func isFailing(_ check: String) -> Bool { value("apus_readiness_check_failing{check=\"\(check)\"}") == 1 }
        #expect(lagSeconds() == 0)
        relay.start()
        try await eventually("the row to be seen") { lagSeconds() ?? 0 > 0 }
        let first = lagSeconds() ?? 0
        try await eventually("the lag to grow") { lagSeconds() ?? 0 > first }
        #expect(isFailing("broker") && !isFailing("outbox"))
        publisher.become(ready: true)
        try await eventually("the lag to end") { lagSeconds() == 0 && !isFailing("broker") }
        #expect(await relay.stop(withinSeconds: 60))
    }

    @Test("What the functions make of their arguments is an event as a worker reads it")
    func functionsMakeEvents() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            SELECT apus_outbox.push('chat', ARRAY['mei', 'anna'], '{"title": "Hi"}');
            SELECT apus_outbox.push('chat', ARRAY['mei'], '{"title": "Hi"}', '{"collapseId": "room-7"}');
            SELECT apus_outbox.publish('record.updated', '{"recordType": "Song", "recordName": "s1",
                "fields": {"price": 9.5}}');
            SELECT apus_outbox.publish('dataset.changed', '{"identityPoolId": "us-east-1:1f",
                "identityId": "us-east-1:2f", "datasetName": "notes", "syncCount": 7}', id => 'd7', source => '/shop',
                "time" => '2026-01-31 12:00+01');
            """)
        let keys = try await outbox.run("SELECT key FROM apus_outbox.event ORDER BY number OFFSET 2")
        #expect(keys.split(separator: "\n") == ["Song/s1", "us-east-1:2f/notes"])
        let publisher = StubPublisher()
        let relay = try Self.relay(outbox, publisher)
        relay.start()
        #expect(await publisher.published.wait { $0.count == 4 })
        let events = try publisher.published.value.map { try EventDecoder().decode($0.message) }
        guard case .push(let push) = events[0].kind, case .push(let collapsed) = events[1].kind,
            case .record(let record) = events[2].kind, case .dataset(let dataset) = events[3].kind
        else { return #expect(Bool(false), "\(events)") }
        #expect(push.audience == .users(["mei", "anna"], app: "chat") && push.notification.title == "Hi")
        #expect(collapsed.options.collapseID == "room-7")
        #expect(record.recordName == "s1" && record.fields["price"] == .double(9.5))
        #expect(dataset.syncCount == 7 && events[3].identifier == "d7" && events[3].source == "/shop")
        #expect(events[3].time?.milliseconds == 1_769_857_200_000)
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
