import PushCore
import Testing

@Suite("What a worker remembers of the counts that it has announced")
struct RecentChangesTests {
    private var recent = RecentChanges()

    private func change(
        _ name: String, _ count: Int64?, by device: String? = nil, _ operation: DatasetChange.Operation = .changed
    ) -> DatasetChange {
        DatasetChange(
            operation: operation,
            key: DatasetKey(identityPoolID: "pool", identityID: "identity", datasetName: name), syncCount: count,
            deviceID: device)
    }

    private mutating func announce(
        _ name: String, _ count: Int64?, by device: String? = nil, event: String = "announced", at now: Int64,
        _ operation: DatasetChange.Operation = .changed
    ) {
        recent.announced(
            change(name, count, by: device, operation), source: "s", identifier: event,
            at: Timestamp(milliseconds: now))
    }

    private func isRedundant(
        _ name: String, _ count: Int64, event: String = "asked", firstSeen: Int64, to device: String
    ) -> Bool {
        recent.newer(
            than: change(name, count), source: "s", identifier: event, firstSeen: Timestamp(milliseconds: firstSeen))?
            .wasTold(device) ?? false
    }

    @Test("A retry or a late event is redundant for a device that was told of no older count by another event")
    mutating func told() {
        announce("a", 5, by: "x", at: 100_000)
        #expect(isRedundant("a", 4, firstSeen: 50, to: "y"), "a retry of what was seen before")
        #expect(isRedundant("a", 4, firstSeen: 160_000, to: "y"), "an event that came within a minute")
        #expect(!isRedundant("a", 4, firstSeen: 160_001, to: "y"), "the counts may have begun anew")
        #expect(isRedundant("a", 5, firstSeen: 100_000, to: "y"), "not newer")
        #expect(!isRedundant("a", 6, firstSeen: 100_000, to: "y"))
        #expect(!isRedundant("a", 4, firstSeen: 50, to: "x"), "it made the change, so it was told nothing")
        #expect(!isRedundant("b", 1, firstSeen: 50, to: "y"))
        announce("a", 6, by: "y", at: 100_001)
        #expect(isRedundant("a", 4, firstSeen: 50, to: "y"), "it was told of 5")
        #expect(!isRedundant("a", 6, firstSeen: 50, to: "y"), "it was not told of 6, which it made")
        #expect(isRedundant("a", 4, firstSeen: 50, to: "x"), "it was told of 6")
    }

    @Test("A redelivery of the announced event is no other event")
    mutating func redelivered() {
        announce("a", 5, event: "e", at: 100)
        #expect(!isRedundant("a", 5, event: "e", firstSeen: 100, to: "y"))
        #expect(isRedundant("a", 5, event: "f", firstSeen: 100, to: "y"))
    }

    @Test("The maker of the newest change is told of an older one of another device once")
    mutating func maker() {
        announce("a", 9, by: "x", at: 100)
        announce("a", 7, by: "y", event: "older", at: 101)
        #expect(isRedundant("a", 7, firstSeen: 102, to: "x"))
        #expect(!isRedundant("a", 8, firstSeen: 102, to: "x"))
        #expect(isRedundant("a", 8, firstSeen: 102, to: "z"), "it was told of 9")
    }

    @Test("A deletion or a merge makes the counts say nothing, and so does a lower count after a minute")
    mutating func countsBeginAnew() {
        for operation in [DatasetChange.Operation.deleted, .merged(["b"])] {
            announce("a", 5, at: 100)
            announce("a", nil, at: 200, operation)
            #expect(!isRedundant("a", 1, firstSeen: 201, to: "y"))
        }
        announce("a", 500, at: 100)
        announce("a", 2, event: "anew", at: 60_101)
        #expect(isRedundant("a", 1, firstSeen: 60_102, to: "y"))
        #expect(!isRedundant("a", 3, firstSeen: 60_102, to: "y"))
    }

    @Test("A count is remembered however its dataset falls among thousands of others that have changed since")
    mutating func known() {
        let names = (0..<6_000).map { "dataset-\($0)" }
        for name in names { announce(name, 2, at: 1) }
        let forgotten = names.filter { !isRedundant($0, 1, firstSeen: 0, to: "device") }
        #expect(forgotten.isEmpty, "\(forgotten.count) of \(names.count) datasets")
    }

    @Test("The memory of announced counts is bounded")
    mutating func bounded() {
        let last = 8 * RecentChanges.datasetsMaximum - 1
        for index in 0...last { announce("dataset-\(index)", 2, at: 10) }
        #expect(!isRedundant("dataset-0", 1, firstSeen: 0, to: "y"))
        #expect(isRedundant("dataset-\(last)", 1, firstSeen: 0, to: "y"))
    }
}
