import Backoffice
import ChangeEvents
import ChangeQueue
import Messages
import PushTestKit
import Testing

@Suite("Headers that fill a frame")
struct HeaderFrameTests {
    /// A message whose headers leave no room in a frame.
    private func fullMessage(_ queue: TestQueue) async throws -> OutgoingMessage {
        var message = queue.messages(0..<1)[0]
        func fill(_ count: Int) {
            message.message.headers = [MessageHeader("big", .string(String(repeating: "n", count: count)))]
        }
        fill(140_000)
        guard case .rejected(let text)? = try await queue.publish([message])[0] else {
            Issue.record("headers of 140 000 bytes were published")
            return message
        }
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        try #require(numbers.count == 2, "\(text)")
        fill(140_000 - numbers[0] + numbers[1])
        return message
    }

    @Test("An event whose headers fill a frame comes again, becomes a dead letter, is collected and replayed")
    func survivesTheBrokersHeaders() async throws {
        let queue = try await TestQueue.make(prefetch: 10)
        let message = try await fullMessage(queue)
        #expect(try await queue.publish([message]) == [0: .confirmed])
        let first = try queue.makeConsumer()
        let log = DeliveryLog()
        first.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 1 })
        // It comes again with `x-delivery-count`.
        await first.close()
        let second = try queue.makeConsumer()
        let again = DeliveryLog { deliveries in second.reject(deliveries.map(\.tag)) }
        second.start(handler: again)
        #expect(await again.state.wait { $0.deliveries.count == 1 })
        await second.cancel()
        await second.close()
        #expect(again.state.value.deliveries.map(\.isRedelivered) == [true])
        try await eventually("the dead letter", equals: 1) {
            try await queue.broker.messageCount(queue: queue.names.deadLetter)
        }
        let folder = try TemporaryFolder()
        let letters = queue.deadLetters(in: folder)
        #expect(try await letters.collect().collectedCount == 1)
        #expect(try await letters.replay(DeadLetterSelection()).doneCount == 1)
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 1)
        try await queue.remove()
    }
}
