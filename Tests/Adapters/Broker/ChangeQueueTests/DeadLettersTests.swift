import Backoffice
import ChangeEvents
import ChangeQueue
import Messages
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Synchronization
import Testing

@Suite("Dead letters")
struct DeadLettersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// All letters that the registry has.
    private func stored() throws -> [DeadLetterSummary] {
        try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
            .deadLetters(matching: DeadLetterFilter(), after: 0, limit: 100_000)
    }

    private func waitingCount(_ queue: TestQueue) async throws -> Int {
        try await queue.broker.messageCount(queue: queue.names.deadLetter)
    }

    @Test("Collecting moves each letter into the registry once, in the order of the queue, and empties the queue")
    func collects() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<6, reason: "invalid-json")
        try await queue.bury(6..<800, reason: "unknown-app")
        let letters = queue.deadLetters(in: folder)
        #expect(try await letters.collect().collectedCount == 800)
        let first = try stored()
        #expect(first.map(\.eventIdentifier) == (0..<800).map { "\($0)" })
        #expect(first.allSatisfy { $0.attempts == 10 && $0.firstSeenMilliseconds == 1_700_000_000_000 })
        try await queue.bury(800..<801, reason: "invalid-json")
        #expect(try await letters.collect().collectedCount == 1)
        #expect(try stored().prefix(800) == first[...])
        #expect(try await letters.collect().collectedCount == 0)
        #expect(try await waitingCount(queue) == 0)
        try await queue.remove()
    }

    @Test("Commands that collect at the same time hide nothing from each other, and no letter is there twice")
    func collectsTogether() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<2_000, reason: "test")
        let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let tally = try await queue.deadLetters(in: folder).collect()
                    return (tally.collectedCount, try stored().count)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.map(\.0).reduce(0, +) == 2_000)
        #expect(counts.allSatisfy { $0.1 == 2_000 }, "each sees all when it has collected: \(counts)")
        try await queue.remove()
    }

    @Test("What was committed and not acknowledged comes again and is the same letter")
    func survivesACrash() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<700, reason: "test")
        let progress = Mutex(0)
        let crashing = DeadLetters(configuration: queue.configuration) { () throws(RegistryError) in
            // Each batch is committed, and then the process ends.
            CrashingLetters(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
        } progress: { _ in
            progress.withLock { $0 += 1 }
        }
        for _ in 0..<3 { await #expect(throws: RegistryError.self) { try await crashing.collect() } }
        #expect(try await queue.deadLetters(in: folder).collect().collectedCount == 700)
        #expect(try stored().count == 700)
        #expect(progress.withLock { $0 } == 0)
        try await queue.remove()
    }

    @Test("Replaying puts the message back to work without its attempts and keeps whose it is")
    func replays() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<250, reason: "attempts-exhausted")
        try await queue.bury(250..<260, reason: "invalid-json")
        let letters = queue.deadLetters(in: folder)
        var filter = DeadLetterFilter()
        filter.reason = "attempts-exhausted"
        let selection = DeadLetterSelection(filter: filter)
        let dryRun = try await letters.replay(selection, isDryRun: true)
        #expect((dryRun.selectedCount, dryRun.doneCount, dryRun.collectedCount) == (250, 0, 260))
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 0)
        let tally = try await letters.replay(selection)
        #expect((tally.selectedCount, tally.doneCount, tally.failure) == (250, 250, nil))
        #expect(try stored().map(\.reason) == Array(repeating: "invalid-json", count: 10))
        let consumer = try queue.makeConsumer()
        let log = DeliveryLog()
        consumer.start(handler: log)
        #expect(await log.state.wait { $0.deliveries.count == 250 })
        let message = try #require(log.state.value.deliveries.first?.message)
        #expect(
            Set(message.headers) == [
                MessageHeader("mine", .string("kept")),
                MessageHeader(RetryHeader.devices, .array([.string("device")])),
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
        let tally = try await queue.deadLetters(in: folder).replay(DeadLetterSelection())
        #expect(tally.doneCount == 0)
        #expect(tally.failure?.contains("NO_ROUTE") == true)
        #expect(try stored().count == 3)
    }

    @Test("A letter that cannot be published is left and named, and no other waits for it or comes twice")
    func replayLeavesOutTheImpossible() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<3, reason: "x")
        let letters = queue.deadLetters(in: folder)
        try await letters.collect()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
        var impossible = Message(body: [1])
        impossible.headers = [MessageHeader("large", .string(String(repeating: "x", count: 200_000)))]
        let summary = DeadLetterSummary(
            identifier: String(repeating: "0f", count: 16), reason: "x", deadLetteredMilliseconds: 0, bodySizeBytes: 1)
        _ = try registry.addDeadLetters([DeadLetter(summary: summary, message: impossible)])
        try await queue.bury(3..<6, reason: "x")
        let tally = try await letters.replay(DeadLetterSelection())
        #expect((tally.selectedCount, tally.doneCount, tally.refusedCount, tally.failure) == (7, 6, 1, nil))
        #expect(tally.refusal?.contains("0f0f0f0f0f0f") == true && tally.refusal?.contains("a frame holds") == true)
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 6)
        #expect(try stored().map(\.identifier) == [summary.identifier])
        try await queue.remove()
    }

    @Test("A letter that is named twice is replayed once")
    func replaysOnce() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<2, reason: "x")
        let letters = queue.deadLetters(in: folder)
        try await letters.collect()
        let letter = try stored()[0]
        let names = [letter.identifier, letter.shortIdentifier]
        #expect(try await letters.replay(DeadLetterSelection(identifiers: names)).doneCount == 1)
        #expect(try await queue.broker.messageCount(queue: queue.names.work) == 1)
        try await queue.remove()
    }

    @Test("Purging a letter that was shown deletes that one, whatever was looked at before")
    func purges() async throws {
        let queue = try await TestQueue.make()
        try await queue.bury(0..<40, reason: "a")
        let letters = queue.deadLetters(in: folder)
        try await letters.collect()
        let shown = try stored()[7]
        try await queue.bury(40..<42, reason: "b")
        let named = DeadLetterSelection(identifiers: [shown.shortIdentifier])
        #expect(try await letters.purge(named, isDryRun: true).selectedCount == 1)
        #expect(try await letters.purge(named).doneCount == 1)
        #expect(try stored().map(\.eventIdentifier) == (0..<42).filter { $0 != 7 }.map { "\($0)" })
        await #expect(throws: RegistryError.self) { try await letters.purge(named) }
        #expect(try await letters.purge(DeadLetterSelection(limit: 3)).doneCount == 3)
        #expect(try await letters.purge(DeadLetterSelection()).doneCount == 38)
        #expect(try stored().isEmpty)
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
        try await eventually("the broker's dead letter") {
            try await queue.deadLetters(in: folder).collect().collectedCount > 0
        }
        #expect(try stored().map(\.reason) == ["delivery-limit"])
        try await queue.remove()
    }
}

/// A registry whose process ends whenever it has committed letters.
private final class CrashingLetters: DeadLetterRegistry {
    private let registry: SQLiteRegistry

    init(_ registry: SQLiteRegistry) { self.registry = registry }

    func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int {
        _ = try registry.addDeadLetters(letters)
        throw RegistryError(.unavailable, "the process ends")
    }

    func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary] { [] }

    func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount] { [] }

    func newestDeadLetterNumber() throws(RegistryError) -> Int64 { 0 }

    func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message] { [:] }

    func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int { 0 }
}
