import PushCore
import PushTestKit
import Testing

@testable import PostgresRegistry

/// What somebody may have written into the tables with a program of their own.
struct EditedRowTests {
    private static let event = FanOutEvent(
        digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1", type: "push.requested")

    private func makeURL() async throws -> String {
        let server = try await PrivatePostgreSQL.shared()
        return server.url(database: try await server.makeDatabase())
    }

    private func execute(_ statement: String, _ url: String) throws {
        let connection = Connection(
            address: try Address(url: url), callMilliseconds: 120_000, connectMilliseconds: 60_000
        ) { (connection) throws(RegistryError) in
            try connection.execute("SET search_path = apus; \(statement)", Deadline(milliseconds: 120_000))
        }
        try connection.ensureOpen()
        connection.close()
    }

    @Test("The least and the greatest number in a row stop nothing that reads it", arguments: [Int64.min, Int64.max])
    func extremes(_ number: Int64) async throws {
        let url = try await makeURL()
        let registry = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        try registry.upsert([try Fixture.device(0)])
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try execute(
            """
            UPDATE device SET badge = \(Int32(clamping: number)), registered_at = \(number);
            UPDATE fan_out SET position = \(number), position_subscription = \(number), chunks_planned = \(number),
                chunks_published = \(number), chunks_served = \(number), chunks_cancelled = \(number),
                devices_planned = \(number), begun_at = \(number), changed_at = \(number)
            """, url)
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
    func deadLetters(_ number: Int64) async throws {
        let url = try await makeURL()
        let registry = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        let summary = DeadLetterSummary(identifier: "0f", reason: "x", deadLetteredMilliseconds: 0, bodySizeBytes: 1)
        _ = try registry.addDeadLetters(
            ["0a", "0b"].map { identifier in
                var summary = summary
                summary.identifier = identifier
                return DeadLetter(summary: summary, message: Message(body: [1]))
            })
        try execute(
            """
            UPDATE dead_letter SET attempts = \(number), first_seen_at = \(number), dead_lettered_at = \(number),
                body_bytes = \(number)
            """,
            url)
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
    func chunks(_ number: Int64) async throws {
        let url = try await makeURL()
        let registry = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1)
        try execute(
            """
            INSERT INTO fan_out_chunk (fan_out, number, after_position, after_subscription, through_position,
                through_subscription, subscriptions, devices)
            VALUES (\(fanOut.number), \(max(number, 1)), \(number), \(number), \(number), \(number), '\\x0102030405',
                \(number))
            """, url)
        let chunk = try #require(try registry.chunks(of: fanOut.number, after: 0, limit: 10).first)
        #expect(chunk.number > 0 && chunk.deviceCount >= 0)
        let key = FanOutChunkKey(fanOut: fanOut.number, event: Self.event.digest, chunk: chunk.number)
        #expect(try registry.chunkStates([key]) == [.waiting])
        try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: 2)
        #expect(try registry.fanOut(fanOut.number) != nil)
    }

    @Test("A version of the schema that there is not is refused with what to do")
    func negativeVersion() async throws {
        let url = try await makeURL()
        _ = try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        try execute("UPDATE schema_version SET version = -1", url)
        let error = #expect(throws: RegistryError.self) {
            _ = try PostgresRegistry.open(
                url: url, mode: .readWrite, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        }
        #expect(error?.code == .invalid && error?.message.contains("schema_version") == true)
    }
}
