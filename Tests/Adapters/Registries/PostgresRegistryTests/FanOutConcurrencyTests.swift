import ChangeEvents
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import PostgresRegistry

/// Fan-outs of one registry, by several connections at the same moment.
struct FanOutConcurrencyTests {
    private static let chunkCount = 40
    private static let event = FanOutEvent(
        digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1", type: "push.requested")

    private static func open(_ url: String) throws -> PostgresRegistry {
        try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
    }

    private func makeURL() async throws -> String {
        let server = try await PrivatePostgreSQL.shared()
        return server.url(database: try await server.makeDatabase())
    }

    private static func chunks() -> [FanOutChunk] {
        (1...chunkCount).map { number in
            FanOutChunk(
                number: number, after: number == 1 ? nil : AudienceCursor(position: Int64(number - 1)),
                through: number == chunkCount ? nil : AudienceCursor(position: Int64(number)), deviceCount: 1)
        }
    }

    @Test("Many who begin the fan-out of one event at the same moment find one, and one of them plans it")
    func beginsOnce() async throws {
        let url = try await makeURL()
        _ = try Self.open(url)
        let found = try await withThrowingTaskGroup(of: FanOut.self) { group in
            for planner in 1...6 {
                group.addTask {
                    let registry = try Self.open(url)
                    let fanOut = try registry.beginFanOut(
                        Self.event, planner: Int64(planner), nowMilliseconds: 1_000_000)
                    return try registry.planChunks(
                        Self.chunks(), of: fanOut.number, planner: Int64(planner), nowMilliseconds: 1_000_000)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(found.map(\.number)).count == 1 && Set(found.map(\.planner)).count == 1)
        let registry = try Self.open(url)
        let fanOut = try #require(try registry.fanOuts(before: nil, limit: 10).first)
        #expect(fanOut.chunksPlanned == Self.chunkCount && fanOut.isWhole)
        #expect(try registry.chunks(of: fanOut.number, after: 0, limit: 100) == Self.chunks())
    }

    @Test("Many who end the same chunks at the same moment count each once")
    func countsEachChunkOnce() async throws {
        let url = try await makeURL()
        let registry = try Self.open(url)
        let fanOut = try registry.beginFanOut(Self.event, planner: 1, nowMilliseconds: 1_000_000)
        _ = try registry.planChunks(Self.chunks(), of: fanOut.number, planner: 1, nowMilliseconds: 1_000_000)
        _ = try registry.chunksPublished(
            through: Self.chunkCount, of: fanOut.number, planner: 1, nowMilliseconds: 1_000_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let registry = try Self.open(url)
                    for chunk in (worker % 2 == 0 ? Array(1...Self.chunkCount) : (1...Self.chunkCount).reversed()) {
                        let key = FanOutChunkKey(fanOut: fanOut.number, event: Self.event.digest, chunk: chunk)
                        try registry.chunksEnded(
                            [FanOutChunkEnding(key, isCancelled: worker == 3)], nowMilliseconds: 1_000_000)
                    }
                }
            }
            try await group.waitForAll()
        }
        let ended = try #require(try registry.fanOut(fanOut.number))
        #expect(ended.state == .done && ended.chunksServed + ended.chunksCancelled == Self.chunkCount)
    }
}
