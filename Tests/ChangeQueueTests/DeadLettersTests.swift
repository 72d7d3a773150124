import ChangeQueue
import PushCore
import PushTestKit
import Synchronization
import Testing

@Suite("Dead letters")
struct DeadLettersTests {
    @Test("Listing shows reason, attempts and size in order, filters and limits, and consumes nothing")
    func listsWithoutConsuming() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<6, reason: "invalid-json")
        try await queue.bury(6..<80, reason: "unknown-app")
        let letters = DeadLetters(configuration: queue.configuration)
        for _ in 0..<3 {
            let all = try await letters.list(DeadLetterSelection())
            #expect(all.map(\.messageID) == (0..<80).map { "\($0)" })
            #expect(all.map(\.position) == Array(1...80))
            #expect(all.allSatisfy { $0.message.body.isEmpty && $0.bodySizeBytes >= 6 && $0.attempts == 10 })
            #expect(all.first?.firstSeenMilliseconds == 1_700_000_000_000)
        }
        let filtered = try await letters.list(DeadLetterSelection(reason: "unknown-app", limit: 1))
        #expect(filtered.map(\.messageID) == ["6"])
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == 80)
        try await queue.remove()
    }

    @Test("Showing gives one letter whole, by place or by message identifier")
    func showsWhole() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<3, reason: "unknown-app")
        let letters = DeadLetters(configuration: queue.configuration)
        for selection in [DeadLetterSelection(position: 2), DeadLetterSelection(messageID: "1")] {
            let shown = try await letters.show(selection)
            #expect(shown.map(\.message.body) == [Array("body 1".utf8)])
            #expect(shown.first?.message.header("mine") == .string("kept"))
            #expect(shown.first?.detail == "because")
        }
        #expect(try await letters.show(DeadLetterSelection(position: 9)).isEmpty)
        try await queue.remove()
    }

    @Test("Replaying puts the message back to work without its attempts and keeps whose it is")
    func replays() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<250, reason: "attempts-exhausted")
        try await queue.bury(250..<260, reason: "invalid-json")
        let progress = Mutex<[DeadLetterTally]>([])
        let letters = DeadLetters(configuration: queue.configuration) { tally in
            progress.withLock { $0.append(tally) }
        }
        let selection = DeadLetterSelection(reason: "attempts-exhausted")
        let dryRun = try await letters.replay(selection, isDryRun: true)
        #expect((dryRun.selectedCount, dryRun.doneCount, dryRun.queuedCount) == (250, 0, 260))
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        let tally = try await letters.replay(selection)
        #expect((tally.selectedCount, tally.doneCount, tally.failure) == (250, 250, nil))
        #expect(!progress.withLock { $0.isEmpty })
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == 10)
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 250 })
        let message = try #require(log.state.value.deliveries.first?.message)
        // The broker sorts the headers of what it delivers again.
        #expect(
            Set(message.headers) == [
                MessageHeader(name: "mine", value: .string("kept")),
                MessageHeader(name: ParkingHeader.devices, value: .array([.string("device")])),
            ])
        #expect(message.body == Array("body 0".utf8))
        await consumer.close()
        try await queue.remove()
    }

    @Test("A replay that the work queue does not take leaves the letters where they are, and says so")
    func replayNeedsTheQueue() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<3, reason: "x")
        try await queue.broker.control("delete_queue", queue.names.work)
        let tally = try await DeadLetters(configuration: queue.configuration).replay(DeadLetterSelection())
        #expect(tally.doneCount == 0)
        #expect(tally.failure?.contains("NO_ROUTE") == true)
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == 3)
    }

    @Test("Purging deletes what is selected, or everything, and nothing in a dry run")
    func purges() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<4, reason: "a")
        try await queue.bury(4..<6, reason: "b")
        let letters = DeadLetters(configuration: queue.configuration)
        #expect(try await letters.purge(DeadLetterSelection(reason: "a"), isDryRun: true).selectedCount == 4)
        #expect(try await letters.purge(DeadLetterSelection(reason: "a", limit: 3)).doneCount == 3)
        #expect(try await letters.list(DeadLetterSelection()).map(\.messageID) == ["3", "4", "5"])
        #expect(try await letters.purge(DeadLetterSelection()).doneCount == 3)
        #expect(try await queue.broker.messageCount(queue: queue.names.deadLetter) == 0)
        try await queue.remove()
    }

    @Test("A message that was returned more often than the limit becomes a dead letter with the broker's reason")
    func brokerBuries() async throws {
        let queue = try await TestQueue.make()
        _ = try await queue.publish(queue.messages(0..<1))
        for _ in 0...20 {
            let consumer = try queue.makeConsumer()
            let log = DeliveryLog()
            consumer.start(handler: log)
            #expect(await log.state.wait { !$0.deliveries.isEmpty })
            await consumer.close()
        }
        let letters = DeadLetters(configuration: queue.configuration)
        let found = try await eventually("a dead letter") {
            try await letters.list(DeadLetterSelection())
        } until: {
            !$0.isEmpty
        }
        #expect(found.map(\.reason) == ["delivery-limit"])
        try await queue.remove()
    }
}
