import AMQP
import ChangeEvents
import DispatchCore
import EventLoop
import Messages
import PushTestKit
import Testing

@testable import ChangeQueue

/// RabbitMQ 3.10 reads what a publisher writes into `x-death`, and 4.x leaves it in the first delivery as it is.
@Suite("The broker's own headers, forged by a publisher")
struct ForgedHeaderTests {
    private static let count = 200

    private static func value(_ random: inout SeededGenerator) -> HeaderValue {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .int64(.random(in: .min ... .max, using: &random))
        case 1: .string("rejected")
        case 2: .boolean(true)
        case 3: .void
        case 4: .array([])
        default: .table([MessageHeader("exchange", .string("")), MessageHeader("count", .int64(99))])
        }
    }

    /// One death or several, some of them as the broker writes them.
    private static func deaths(_ random: inout SeededGenerator) -> HeaderValue {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return value(&random) }
        return .array(
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                .table([
                    MessageHeader("exchange", .string(Bool.random(using: &random) ? "" : "elsewhere")),
                    MessageHeader("queue", .string("apus.retry.1s")), MessageHeader("reason", .string("expired")),
                    MessageHeader("count", .int64(.random(in: 0...99, using: &random))),
                ])
            })
    }

    private static func message(_ number: Int, _ random: inout SeededGenerator) -> Message {
        var message = Message(body: Array("{}".utf8))
        message.properties.messageID = "\(number)"
        message.headers = [
            MessageHeader("x-death", deaths(&random)), MessageHeader("x-delivery-count", value(&random)),
            MessageHeader("x-acquired-count", value(&random)), MessageHeader("x-first-death-reason", value(&random)),
        ].shuffled(using: &random)
        return message
    }

    @Test("They count for nothing: such an event has no history, and its copies do not bear them")
    func countForNothing() async throws {
        let queue = try await TestQueue.make()
        var random = SeededGenerator(seed: 38)
        let exchange = queue.names.changes
        let publishes = (0..<Self.count).map { (Self.message($0, &random), exchange, "test") }
        let loop = try EventLoop(name: "test")
        try await loop.run {
            let session = try AMQPSession(AMQPEndpoint(queue.broker.url), options: AMQPOptions())
            defer { session.close() }
            try session.enableConfirms()
            let failures = try session.publishConfirmed(publishes)
            #expect(failures.allSatisfy { $0 == nil })
        }
        loop.stopAndJoin()
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == Self.count })
        for delivery in log.state.value.deliveries {
            let read = RetryState(of: delivery, nowMilliseconds: 7)
            var plain = delivery
            plain.message.headers = []
            #expect(read == RetryState(of: plain, nowMilliseconds: 7), "\(delivery.message.headers)")
            #expect(!delivery.message.isOwnCopy(publishedTo: delivery.exchange))
            let copy = Message(
                publishing: read.requeuedCopy(of: delivery.message, reason: "throttled", detail: ""), user: "guest")
            #expect(copy.headers.allSatisfy { !$0.name.hasPrefix("x-") }, "\(copy.headers)")
        }
        consumer.settle(log.state.value.deliveries.map(\.tag))
        await consumer.cancel()
        await consumer.close()
    }
}
