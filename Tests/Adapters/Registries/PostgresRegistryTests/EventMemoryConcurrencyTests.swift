import ChangeEvents
import PostgresRegistry
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

/// Several connections that remember, forget and look for events at the same time.
struct EventMemoryConcurrencyTests {
    private static let now: Int64 = 1_800_000_000_000

    private static func identity(_ writer: Int, _ number: Int) -> EventIdentity {
        EventIdentity(source: "writer \(writer)", identifier: "\(number)", owner: "chat")
    }

    @Test("Whatever was remembered before a look-up is known to it, however many write, read and forget")
    func followsWriters() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let url = server.url(database: try await server.makeDatabase())
        @Sendable func open() throws -> PostgresRegistry {
            try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        }
        _ = try open()
        let (writers, rounds) = (3, 150)
        let follower = TestEventMemory(rememberMilliseconds: 3_600_000, eventsMaximum: .max)
        let remembered = Watched<(identities: Set<EventIdentity>, finished: Int)>((identities: [], finished: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    let registry = try open()
                    for number in 0..<rounds {
                        let event = RememberedEvent(identity: Self.identity(writer, number), content: 0)
                        // The clocks of the writers differ.
                        try registry.remember([event], endedAtMilliseconds: Self.now - Int64(writer) * 1_000)
                        remembered.update { $0.identities.insert(event.identity) }
                        guard number.isMultiple(of: 10) else { continue }
                        let counts = try registry.forgetEvents(
                            endedBeforeMilliseconds: Self.now - 3_600_000, eventsMaximum: .max, limit: 64)
                        #expect(counts.blocks == 0)
                    }
                    remembered.update { $0.finished += 1 }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    let registry = try open()
                    var isLast = false
                    while !isLast {
                        let (before, finished) = remembered.value
                        isLast = finished == writers
                        let known = try follower.rememberedEvents(
                            among: Array(before), in: registry, atMilliseconds: Self.now)
                        #expect(Set(known.map(\.identity)) == before)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(remembered.value.identities.count == writers * rounds)
    }
}
