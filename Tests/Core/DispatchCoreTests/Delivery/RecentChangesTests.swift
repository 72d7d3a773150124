import Essentials
import Notifications
import Testing

@testable import DispatchCore

@Suite("What a worker remembers of the counts that it has told devices of")
struct RecentChangesTests {
    private var recent = RecentChanges()

    private func key(_ name: String) -> DatasetKey {
        DatasetKey(identityPoolID: "pool", identityID: "identity", datasetName: name)
    }

    private func announcement(
        _ name: String, _ count: Int64, event: String, firstSeen: Int64
    ) throws -> DatasetAnnouncement {
        try #require(
            DatasetAnnouncement(
                DatasetChange(operation: .changed, key: key(name), syncCount: count, deviceID: nil), source: "s",
                identifier: event, firstSeen: WallTime(milliseconds: firstSeen)))
    }

    private mutating func tell(
        _ device: String, _ name: String, _ count: Int64, event: String = "told", firstSeen: Int64
    ) throws {
        recent.noteTold(device, of: try announcement(name, count, event: event, firstSeen: firstSeen))
    }

    private func isRedundant(
        _ name: String, _ count: Int64, event: String = "asked", firstSeen: Int64, for device: String
    ) throws -> Bool {
        recent.isRedundant(try announcement(name, count, event: event, firstSeen: firstSeen), for: device)
    }

    @Test("A retry or a late event is redundant for a device that was told of no older count by another event")
    mutating func told() throws {
        try tell("y", "a", 5, firstSeen: 100_000)
        #expect(try isRedundant("a", 4, firstSeen: 50, for: "y"), "a retry of what was seen before")
        #expect(try isRedundant("a", 4, firstSeen: 160_000, for: "y"), "an event that came within a minute")
        #expect(try !isRedundant("a", 4, firstSeen: 160_001, for: "y"), "the counts may have begun anew")
        #expect(try isRedundant("a", 5, firstSeen: 100_000, for: "y"), "not newer")
        #expect(try !isRedundant("a", 6, firstSeen: 100_000, for: "y"))
        #expect(try !isRedundant("a", 4, firstSeen: 50, for: "x"), "it was told nothing")
        #expect(try !isRedundant("b", 1, firstSeen: 50, for: "y"))
        try tell("y", "a", 4, event: "late", firstSeen: 100_001)
        #expect(try isRedundant("a", 5, firstSeen: 100_002, for: "y"), "the newest counts")
    }

    @Test("A redelivery of the announced event is no other event")
    mutating func redelivered() throws {
        try tell("y", "a", 5, event: "e", firstSeen: 100)
        #expect(try !isRedundant("a", 5, event: "e", firstSeen: 100, for: "y"))
        #expect(try isRedundant("a", 5, event: "f", firstSeen: 100, for: "y"))
    }

    @Test("A deletion or a merge announces no count, and makes those before it say nothing")
    mutating func deleted() throws {
        for operation in [DatasetChange.Operation.deleted, .merged(["b"])] {
            let change = DatasetChange(operation: operation, key: key("a"), syncCount: 6, deviceID: nil)
            #expect(
                DatasetAnnouncement(
                    change, source: "s", identifier: "d", firstSeen: WallTime(milliseconds: 1)) == nil)
        }
        try tell("y", "a", 500, firstSeen: 100)
        recent.forget(key("a"), at: WallTime(milliseconds: 200))
        #expect(try !isRedundant("a", 1, firstSeen: 201, for: "y"))
        try tell("y", "a", 501, event: "retried", firstSeen: 150)
        #expect(try !isRedundant("a", 1, firstSeen: 201, for: "y"), "its event came before the deletion")
        try tell("y", "a", 1, event: "anew", firstSeen: 201)
        try tell("y", "a", 501, event: "retried", firstSeen: 150)
        #expect(try isRedundant("a", 1, firstSeen: 202, for: "y"))
        #expect(try !isRedundant("a", 2, firstSeen: 202, for: "y"))
    }

    @Test("A lower count is believed after a minute, and a retry of an old event shortens that of a newer one not")
    mutating func countsBeginAnew() throws {
        try tell("y", "a", 500, firstSeen: 100)
        try tell("y", "a", 2, event: "anew", firstSeen: 60_101)
        #expect(try isRedundant("a", 1, firstSeen: 60_102, for: "y"))
        #expect(try !isRedundant("a", 3, firstSeen: 60_102, for: "y"))
        try tell("y", "a", 4, event: "retried", firstSeen: 60_000)
        #expect(try isRedundant("a", 3, firstSeen: 120_101, for: "y"))
    }

    @Test("A count is remembered however its dataset falls among thousands of others that have changed since")
    mutating func known() throws {
        let names = (0..<20_000).map { "dataset-\($0)" }
        for name in names { try tell("device", name, 2, firstSeen: 1) }
        let forgotten = try names.filter { try !isRedundant($0, 1, firstSeen: 0, for: "device") }
        #expect(forgotten.isEmpty, "\(forgotten.count) of \(names.count) datasets")
    }

    @Test("The memory of announced counts is bounded")
    mutating func bounded() throws {
        let last = 2 * RecentChanges.devicesMaximum - 1
        let announcement = try announcement("a", 2, event: "told", firstSeen: 10)
        for index in 0...last { recent.noteTold("device-\(index)", of: announcement) }
        #expect(try !isRedundant("a", 1, firstSeen: 0, for: "device-0"))
        #expect(try isRedundant("a", 1, firstSeen: 0, for: "device-\(last)"))
    }
}
