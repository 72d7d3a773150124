import ApusClient
import Foundation
import PushTestKit
import Synchronization
import Testing

@Suite("Sync counts")
struct SyncCountTests {
    private static let settings = DatasetName(identityPoolID: "r:p", identityID: "r:a", name: "settings")
    private static let drafts = DatasetName(identityPoolID: "r:p", identityID: "r:b", name: "drafts")

    private static func changed(_ syncCount: Int64?, _ dataset: DatasetName = settings) -> PushEvent {
        .datasetChanged(DatasetPush(dataset: dataset, syncCount: syncCount))
    }

    @Test("A change that is synchronised already does nothing; a newer one, and one of unknown count, does")
    func oldChanges() {
        var counts = SyncCounts()
        #expect(counts.datasetToSynchronize(after: Self.changed(1)) == Self.settings)
        counts.synchronized(Self.settings, to: 7)
        for old in [0, 1, 6, 7] as [Int64] { #expect(counts.datasetToSynchronize(after: Self.changed(old)) == nil) }
        for new in [8, .max, nil] as [Int64?] {
            #expect(counts.datasetToSynchronize(after: Self.changed(new)) == Self.settings)
        }
        #expect(counts.datasetToSynchronize(after: Self.changed(3, Self.drafts)) == Self.drafts)
        #expect(counts.datasetToSynchronize(after: .data([:])) == nil)
    }

    @Test("Deletions and merges are always a reason, whatever their count, because counts begin again")
    func deletionsAndMerges() {
        var counts = SyncCounts()
        counts.synchronized(Self.settings, to: 50)
        let push = DatasetPush(dataset: Self.settings, syncCount: 2)
        #expect(counts.datasetToSynchronize(after: .datasetDeleted(push)) == Self.settings)
        #expect(counts.datasetToSynchronize(after: .datasetsMerged(push, mergedDatasetNames: [])) == Self.settings)
        counts.synchronized(Self.settings, to: 1)
        #expect(counts.datasetToSynchronize(after: Self.changed(2)) == Self.settings)
        counts.forget(Self.settings)
        #expect(counts[Self.settings] == nil && counts.datasets.isEmpty)
    }

    @Test("Any order of pushes, each synchronised when it has to be, ends at the newest count")
    func randomOrders() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var counts = SyncCounts()
            var synchronisations = 0
            let newest = Int64.random(in: 1...20, using: &generator)
            for _ in 0..<60 {
                let push = Int64.random(in: 1...newest, using: &generator)
                guard counts.datasetToSynchronize(after: Self.changed(push)) != nil else {
                    #expect(push <= counts[Self.settings] ?? 0, "seed \(seed)")
                    continue
                }
                synchronisations += 1
                // The store is at least as new as the push.
                counts.synchronized(Self.settings, to: Int64.random(in: push...newest, using: &generator))
            }
            #expect(synchronisations <= newest, "seed \(seed)")
        }
    }

    @Test("Counts are kept in a file, of another user's sign-in only that user's")
    func file() async throws {
        let folder = try TemporaryFolder()
        let file = SyncCountFile(url: URL(fileURLWithPath: folder.path + "/counts.json"))
        let first = SyncCountStore(persistence: file)
        try await first.synchronized(Self.settings, to: 7)
        try await first.synchronized(Self.drafts, to: 3)
        let second = SyncCountStore(persistence: file)
        #expect(try await second.syncCount(of: Self.settings) == 7)
        #expect(try await second.datasetToSynchronize(after: Self.changed(7)) == nil)
        try await second.keepOnly(identityID: "r:b")
        let third = SyncCountStore(persistence: file)
        #expect(try await third.syncCount(of: Self.settings) == nil)
        #expect(try await third.syncCount(of: Self.drafts) == 3)
        try Data("{broken".utf8).write(to: URL(fileURLWithPath: folder.path + "/counts.json"))
        #expect(try await SyncCountStore(persistence: file).syncCount(of: Self.drafts) == nil)
    }

    /// Saves that end when the test says.
    private actor SlowPersistence: SyncCountPersistence {
        private(set) var saved: [SyncCounts] = []
        private var held: [CheckedContinuation<Void, Never>] = []
        private var isHeld = true

        func loadSyncCounts() -> SyncCounts? { nil }

        func saveSyncCounts(_ counts: SyncCounts) async {
            if isHeld { await withCheckedContinuation { held.append($0) } }
            saved.append(counts)
        }

        func release() {
            isHeld = false
            for continuation in held { continuation.resume() }
            held = []
        }
    }

    @Test("Of several saves at once the newest counts are saved last")
    func savesInOrder() async throws {
        let persistence = SlowPersistence()
        let store = SyncCountStore(persistence: persistence)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for count in 1...5 as ClosedRange<Int64> {
                group.addTask { try await store.synchronized(Self.settings, to: count) }
            }
            group.addTask { await persistence.release() }
            try await group.waitForAll()
        }
        let newest = try await store.syncCount(of: Self.settings)
        #expect(await persistence.saved.last?[Self.settings] == newest)
    }
}
