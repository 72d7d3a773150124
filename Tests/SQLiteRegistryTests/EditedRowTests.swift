import Foundation
import PushCore
import PushTestKit
import Testing

@testable import SQLiteRegistry

/// What somebody may have written into the file with a program of their own.
struct EditedRowTests {
    private static let event = FanOutEvent(
        digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1", type: "push.requested")

    @Test("The least and the greatest number in a row stop nothing that reads it", arguments: [Int64.min, Int64.max])
    func extremes(_ number: Int64) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        try registry.register(try Fixture.registrations(0..<1))
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try registry.connection.execute(
            """
            UPDATE device SET badge = \(number), registered_at = \(number);
            UPDATE fan_out SET position = \(number), position_subscription = \(number), chunks_planned = \(number),
                chunks_published = \(number), chunks_served = \(number), chunks_cancelled = \(number),
                devices_planned = \(number), begun_at = \(number), changed_at = \(number)
            """)
        let device = try #require(try registry.device("device-0"))
        let bounds = Timestamp.earliest.milliseconds...Timestamp.latest.milliseconds
        #expect(bounds.contains(device.registeredAtMilliseconds))
        #expect((0...1_000_000).contains(try #require(try registry.badge(of: "device-0"))))
        #expect(
            (1...1_000_000).contains(
                try registry.countBadges(["device-0"], for: Self.event.digest, isRepeated: false)[0]))
        #expect(
            (1...1_000_000).contains(
                try registry.countBadges(["device-0"], for: Self.event.digest, isRepeated: true)[0]))
        let edited = try #require(try registry.fanOut(fanOut.number))
        var planner = FanOutPlanner(edited, planner: 1)
        planner.chunkFound(through: nil, subscriptions: [], deviceCount: 1)
        _ = planner.step
    }

    @Test(
        "The least and the greatest number in a row of a dead letter stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func deadLetters(_ number: Int64) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let summary = DeadLetterSummary(identifier: "0f", reason: "x", deadLetteredMilliseconds: 0, bodySizeBytes: 1)
        _ = try registry.addDeadLetters(
            ["0a", "0b"].map { identifier in
                var summary = summary
                summary.identifier = identifier
                return DeadLetter(summary: summary, message: Message(body: [1]))
            })
        try registry.connection.execute(
            """
            UPDATE dead_letter SET attempts = \(number), first_seen_at = \(number), dead_lettered_at = \(number),
                body_bytes = \(number)
            """
        )
        let letters = try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10)
        #expect(DeadLetterSummary.batches(letters).joined().count == 2)
        let bounds = Timestamp.earliest.milliseconds...Timestamp.latest.milliseconds
        #expect(letters.allSatisfy { bounds.contains($0.deadLetteredMilliseconds) && $0.bodySizeBytes >= 0 })
        let counts = try registry.deadLetterCounts(matching: DeadLetterFilter())
        #expect(counts.allSatisfy { bounds.contains($0.oldestMilliseconds) })
    }

    @Test(
        "The least and the greatest number in a row of a chunk stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func chunks(_ number: Int64) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try registry.connection.execute(
            """
            INSERT INTO fan_out_chunk (fan_out, number, after_position, after_subscription, through_position,
                through_subscription, subscriptions, devices)
            VALUES (\(fanOut.number), \(max(number, 1)), \(number), \(number), \(number), \(number), x'0102030405',
                \(number))
            """)
        let chunk = try #require(try registry.chunks(of: fanOut.number, after: 0, limit: 10).first)
        #expect(chunk.number > 0 && chunk.deviceCount >= 0)
        let key = FanOutChunkKey(fanOut: fanOut.number, event: Self.event.digest, chunk: chunk.number)
        #expect(try registry.chunkStates([key]) == [.waiting])
        try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: 2)
        #expect(try registry.fanOut(fanOut.number) != nil)
    }
}
