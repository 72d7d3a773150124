import ChangeEvents
import JSON
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("apus fanout")
struct FanOutCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("apus.toml", "[registry]\nurl = \"sqlite:registry.db\"\n")
    }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(arguments, in: folder)
    }

    /// A fan-out of two chunks of which one has been served, and one that has just begun.
    private func prepare() throws -> SQLiteRegistry {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        for identifier in ["e1", "e2"] {
            let digest = EventDigest(source: "shop", identifier: identifier)
            let event = FanOutEvent(
                digest: digest, source: "shop", identifier: identifier, type: "push.requested", app: "chat")
            let fanOut = try registry.beginFanOut(event, planner: 1, nowMilliseconds: 1_700_000_000_000)
            if identifier == "e2" { continue }
            let end = AudienceCursor(position: 10)
            _ = try registry.planChunks(
                [
                    FanOutChunk(number: 1, after: nil, through: end, deviceCount: 2_000),
                    FanOutChunk(number: 2, after: end, through: nil, deviceCount: 500),
                ], of: fanOut.number, planner: 1, nowMilliseconds: 1_700_000_000_000)
            _ = try registry.chunksPublished(
                through: 2, of: fanOut.number, planner: 1, nowMilliseconds: 1_700_000_000_000)
            let key = FanOutChunkKey(fanOut: fanOut.number, event: digest, chunk: 1)
            try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: 1_700_000_000_000)
        }
        return registry
    }

    @Test("Fan-outs are listed, the newest first, for people and for programs")
    func list() async throws {
        _ = try prepare()
        let text = try await apus("fanout", "list")
        #expect(text.exitCode == 0, "\(text)")
        #expect(
            text.output == """
                2  planning  0/0+ chunks  0 devices  push.requested  e2
                1  planned  1/2 chunks  2500 devices  push.requested  e1

                """)
        let json = try await apus("fanout", "list", "--json", "--limit", "1")
        let line = try JSONParser().parse(json.output)
        #expect(line.object?["number"]?.int64 == 2 && line.object?["eventId"]?.string == "e2")
        #expect(line.object?["state"]?.string == "planning")
    }

    @Test("A fan-out is shown with its progress")
    func show() async throws {
        _ = try prepare()
        let text = try await apus("fanout", "show", "1")
        #expect(
            text.output == """
                fan-out    1
                state      planned
                event      e1
                source     shop
                type       push.requested
                app        chat
                devices    2500
                planned    2 chunks
                published  2
                served     1
                cancelled  0
                begun at   2023-11-14T22:13:20.000Z
                changed at 2023-11-14T22:13:20.000Z

                """)
        let json = try await apus("fanout", "show", "1", "--json")
        #expect(
            json.output == #"{"number":1,"state":"planned","eventId":"e1","eventSource":"shop","#
                + #""eventType":"push.requested","app":"chat","devices":2500,"isWhole":true,"chunksPlanned":2,"#
                + #""chunksPublished":2,"chunksServed":1,"chunksCancelled":0,"begunAt":1700000000000,"#
                + #""changedAt":1700000000000}"# + "\n")
    }

    @Test("A fan-out is cancelled; one that is done, or that is not there, is not")
    func cancel() async throws {
        let registry = try prepare()
        let cancelled = try await apus("fanout", "cancel", "1", "--json")
        #expect(cancelled.exitCode == 0, "\(cancelled)")
        #expect(try JSONParser().parse(cancelled.output).object?["state"]?.string == "cancelled")
        #expect(try registry.fanOut(1)?.state == .cancelled)
        let event = EventDigest(source: "shop", identifier: "e2")
        _ = try registry.planChunks(
            [FanOutChunk(number: 1, after: nil, through: nil, deviceCount: 1)], of: 2, planner: 1, nowMilliseconds: 1)
        _ = try registry.chunksPublished(through: 1, of: 2, planner: 1, nowMilliseconds: 1)
        let key = FanOutChunkKey(fanOut: 2, event: event, chunk: 1)
        try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: 1)
        let done = try await apus("fanout", "cancel", "2")
        #expect(done.exitCode == 65 && done.errors.contains("done"), "\(done)")
        let missing = try await apus("fanout", "cancel", "99")
        #expect(missing.exitCode == 65 && missing.errors.contains("99"), "\(missing)")
        let wrong = try await apus("fanout", "show", "first")
        #expect(wrong.exitCode == 64 && wrong.errors.contains("number"), "\(wrong)")
    }
}
