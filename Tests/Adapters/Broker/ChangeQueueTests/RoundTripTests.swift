import ChangeEvents
import ChangeQueue
import Messages
import PushTestKit
import Synchronization
import Testing

@Suite("Publish, consume and settle")
struct RoundTripTests {
    @Test("Of 50,000 messages settled in random order all arrive, none twice, and the queue is empty afterwards")
    func settlesInRandomOrder() async throws {
        let count = 50_000
        let queue = try await TestQueue.make()
        let consumer = try queue.makeConsumer()
        let held = Mutex<[DeliveryTag]>([])
        let log = DeliveryLog { deliveries in
            // Settles half of what is held at random, so that the window never runs dry and nothing is in order.
            let ended = held.withLock { held in
                held += deliveries.map(\.tag)
                held.shuffle()
                let ended = Array(held.suffix((held.count + 1) / 2))
                held.removeLast(ended.count)
                return ended
            }
            consumer.settle(ended)
        }
        consumer.start(handler: log)
        let outcomes = try await queue.publish(queue.messages(0..<UInt64(count)))
        #expect(outcomes.count == count)
        #expect(outcomes.values.allSatisfy { $0 == .confirmed })
        #expect(await log.state.wait { $0.deliveries.count == count })
        consumer.settle(held.withLock { $0 })
        await consumer.cancel()
        await consumer.close()
        let identifiers = Set(log.state.value.deliveries.compactMap(\.message.properties.messageID))
        #expect(identifiers.count == count)
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        #expect(log.state.value.states == [.consuming(epoch: 1), .cancelled])
    }
}
