import ChangeEvents
import ChangeQueue
import Messages
import Metrics
import PushTestKit
import StructuredLogging
import Testing

@Suite("The consumer of outcomes", .timeLimit(.minutes(10)))
struct OutcomeConsumerTests {
    /// What a consumer told, with the identifiers of the messages in place of the deliveries.
    private struct Seen: Sendable {
        var states: [DeliverySourceState] = []
        var deliveries: [Delivery] = []

        var identifiers: [String] { deliveries.compactMap(\.message.properties.messageID) }
        var consumptionCount: Int { states.count { if case .consuming = $0 { true } else { false } } }
    }

    private let queue: TestQueue
    private let seen = Watched(Seen())

    init() async throws {
        var queue = try await TestQueue.make(isApplied: false)
        queue.topology = Topology(
            namespace: queue.names.namespace, retryDelaysMilliseconds: [], publishesOutcomes: true)
        _ = try await queue.topology.apply(to: queue.configuration)
        self.queue = queue
    }

    private func start(_ queues: [OutcomeConsumer.Queue]) throws -> OutcomeConsumer {
        let consumer = try OutcomeConsumer(
            queues, configuration: queue.configuration, connection: "outcomes", logger: .silent,
            metrics: MetricsRegistry())
        consumer.start { [seen] event in
            seen.update { seen in
                switch event {
                case .received(let deliveries, _): seen.deliveries += deliveries
                case .changed(let state, _): seen.states.append(state)
                }
            }
        }
        return consumer
    }

    private func publish(_ identifiers: String...) async throws {
        let messages = identifiers.enumerated().map { index, identifier in
            var message = Message(body: Array("{}".utf8))
            message.properties.messageID = identifier
            return OutgoingMessage(
                identifier: UInt64(index), exchange: queue.names.outcomes, routingKey: "accepted.push.requested.chat",
                message: message)
        }
        let outcomes = try await queue.publish(messages)
        try #require(outcomes.values.allSatisfy { $0 == .confirmed }, "\(outcomes)")
    }

    private func temporaryQueues() async throws -> [Substring] {
        try await queue.broker.control("list_queues", "name").split(separator: "\n").filter {
            $0.hasPrefix("\(queue.names.outcomes).tail-")
        }
    }

    @Test("A temporary queue that ended is made again, and its prefetch bounds the unsettled outcomes")
    func temporaryQueueReturns() async throws {
        let consumer = try start([.temporary(patterns: ["accepted.#"], prefetch: 2)])
        #expect(await seen.wait { $0.consumptionCount == 1 })
        try await publish("1", "2", "3")
        #expect(await seen.wait { $0.deliveries.count == 2 })
        consumer.settle(seen.value.deliveries.map(\.tag), of: 0)
        #expect(await seen.wait { $0.identifiers == ["1", "2", "3"] })
        let first = try await temporaryQueues()
        try await queue.broker.control("delete_queue", String(try #require(first.first)))
        #expect(await seen.wait { $0.consumptionCount == 2 })
        try await publish("4")
        #expect(await seen.wait { $0.identifiers == ["1", "2", "3", "4"] })
        #expect(try await temporaryQueues() != first)
        await consumer.close()
        #expect(try await temporaryQueues().isEmpty)
        try await queue.remove()
    }

    @Test("An exchange that is missing is for an operator to mend, and is tried again")
    func missingExchange() async throws {
        try await queue.broker.evaluate(
            """
            rabbit_exchange:delete(
                rabbit_misc:r(<<"/">>, exchange, <<"\(queue.names.outcomes)">>), false, <<"tests">>).
            """)
        let consumer = try start([.temporary(patterns: ["#"], prefetch: 2)])
        #expect(await seen.wait { if case .misconfigured = $0.states.last { true } else { false } })
        _ = try await queue.topology.apply(to: queue.configuration)
        #expect(await seen.wait { $0.consumptionCount == 1 })
        await consumer.close()
        try await queue.remove()
    }
}
