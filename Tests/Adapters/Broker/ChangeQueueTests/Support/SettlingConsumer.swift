import ChangeEvents
import ChangeQueue
import Messages
import PushTestKit
import Synchronization

/// A consumer that settles what it gets at once, as a worker with nothing to do, and remembers it.
final class SettlingConsumer: DeliveryHandler {
    private let consumer: ChangeConsumer
    private let log = DeliveryLog()

    init(_ queue: TestQueue) throws {
        consumer = try queue.makeConsumer()
        consumer.start(handler: self)
    }

    /// Waits until it consumes.
    func waitUntilConsuming() async -> Bool { await log.state.wait { $0.isConsuming } }

    /// The numbers of the messages that it got, with those that it got twice.
    var messageIDs: [UInt64] {
        log.state.value.deliveries.compactMap { $0.message.properties.messageID.flatMap(UInt64.init) }
    }

    /// All that it got.
    var deliveries: [Delivery] { log.state.value.deliveries }

    func deliveriesReceived(_ deliveries: [Delivery]) {
        log.deliveriesReceived(deliveries)
        consumer.settle(deliveries.map(\.tag))
    }

    func sourceStateChanged(_ newState: DeliverySourceState) { log.sourceStateChanged(newState) }

    /// Waits until it has got this many messages.
    func wait(forCount count: Int) async -> Bool { await log.state.wait { $0.deliveries.count >= count } }

    /// Ends as a worker does on SIGTERM.
    func end() async {
        await consumer.cancel()
        await consumer.close()
    }
}
