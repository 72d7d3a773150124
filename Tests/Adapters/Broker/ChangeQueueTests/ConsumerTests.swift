import ChangeEvents
import ChangeQueue
import Messages
import Metrics
import PushTestKit
import Testing

@Suite("The change consumer")
struct ConsumerTests {
    @Test("A wrong password and a missing topology are for an operator to mend, and the text says how")
    func saysWhatIsMissing() async throws {
        let queue = try await TestQueue.make(isApplied: false)
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.isMisconfigured })
        guard case .misconfigured(let reason) = log.state.value.lastState else { return }
        #expect(reason.contains("\(queue.names.work) and \(queue.names.fanout) are missing"))
        #expect(reason.contains("run `apus topology apply`"))
        _ = try await queue.topology.apply(to: queue.configuration)
        #expect(await log.state.wait { $0.isConsuming })
        await consumer.cancel()
        await consumer.close()

        var wrong = queue
        wrong.configuration = try BrokerConfiguration(
            urls: ["amqp://guest:hunter2@127.0.0.1:\(queue.broker.port)/"], namespace: queue.names.namespace)
        let refused = try wrong.makeConsumer()
        let refusedLog = DeliveryLog()
        refused.start(handler: refusedLog)
        #expect(await refusedLog.state.wait { if case .refused = $0.states.last { true } else { false } })
        #expect("\(refusedLog.state.value.states)".contains("ACCESS_REFUSED"))
        #expect(!"\(refusedLog.state.value.states)".contains("hunter2"))
        await refused.close()
        try await queue.remove()
    }

    @Test("The fan-out queue has a prefetch of its own, and deliveries say their class")
    func tellsClassesApart() async throws {
        let queue = try await TestQueue.make(prefetch: 10)
        let messages = [queue.names.work, queue.names.fanout].flatMap { name in
            (0..<20).map { _ in
                OutgoingMessage(identifier: 0, exchange: "", routingKey: name, message: Message(body: [1]))
            }
        }
        _ = try await queue.publish(
            messages.enumerated().map { index, message in
                var numbered = message
                numbered.identifier = UInt64(index)
                return numbered
            })
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 14 })
        #expect(log.state.value.deliveries.count { $0.deliveryClass == .bulk } == 4)
        #expect(log.state.value.deliveries.count { $0.deliveryClass == .interactive } == 10)
        consumer.settle(log.state.value.deliveries.map(\.tag).reversed())
        #expect(await log.state.wait { $0.deliveries.count == 28 })
        await consumer.cancel()
        consumer.settle(log.state.value.deliveries.map(\.tag))
        await consumer.close()
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        #expect(try await queue.broker.messageCount(queue: queue.names.fanout) == 12)
        try await queue.remove()
    }

    @Test("What is rejected among what is settled becomes a dead letter of the broker, as it was; nothing comes again")
    func rejects() async throws {
        let queue = try await TestQueue.make(prefetch: 100)
        _ = try await queue.publish(queue.messages(0..<300))
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog { deliveries in
            for delivery in deliveries.shuffled() {
                let number = delivery.message.properties.messageID.flatMap(Int.init) ?? 0
                if number.isMultiple(of: 7) { consumer.reject([delivery.tag]) } else { consumer.settle([delivery.tag]) }
            }
        }
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 300 })
        await consumer.cancel()
        await consumer.close()
        #expect(log.state.value.deliveries.count == 300 && log.state.value.states.count == 2)
        #expect(queue.metrics.render().contains("apus_deliveries_rejected_total 43\n"))
        try await eventually("the dead letters", equals: 43) {
            try await queue.broker.messageCount(queue: queue.names.deadLetter)
        }
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        try await queue.remove()
    }

    @Test("After a cancel nothing new comes; what came can be settled, and closing writes the acknowledgements")
    func drains() async throws {
        let queue = try await TestQueue.make(prefetch: 100)
        _ = try await queue.publish(queue.messages(0..<300))
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 100 })
        await consumer.cancel()
        let received = log.state.value.deliveries
        // Not the first, so that nothing is at the frontier and only the final flush can write these.
        consumer.settle(received.dropFirst().map(\.tag))
        await consumer.close()
        #expect(log.state.value.deliveries.count == received.count)
        #expect(log.state.value.lastState == .cancelled)
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 201)
        try await queue.remove()
    }

    @Test("Cancelling or closing a consumer that never reached a broker ends at once")
    func endsWithoutBroker() async throws {
        var queue = try await TestQueue.make(isApplied: false)
        queue.configuration = try BrokerConfiguration(urls: ["amqp://127.0.0.1:1/"])
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.states.contains { if case .interrupted = $0 { true } else { false } } })
        await consumer.cancel()
        #expect(log.state.value.lastState == .cancelled)
        await consumer.close()
        let publisher = try queue.makePublisher()
        publisher.start(handler: OutcomeLog())
        publisher.publish(queue.messages(0..<3))
        #expect(await publisher.close(deadlineSeconds: 0.1) == false)
    }
}
