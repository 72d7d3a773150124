import ApusClient
import Foundation
import PushTestKit
import Testing

@Suite("Synchronising datasets")
struct DatasetSynchronizerTests {
    static let name = DatasetName(identityPoolID: "r:p", identityID: "r:a", name: "settings")

    /// A device with its copy, beside a store.
    struct Device {
        let local = MemoryDatasetStore()
        let callbacks = NotedCallbacks()
        let counts = SyncCountStore(persistence: NoPersistence())
        let synchronizer: DatasetSynchronizer

        init(_ remote: SimulatedDatasetStore) {
            synchronizer = DatasetSynchronizer(remote: remote, local: local, counts: counts, callbacks: callbacks)
        }

        var values: [String: String] { get async { await local.values(of: name) } }
        func set(_ value: String?, for key: String, at seconds: Double = 0) async {
            await local.set(value, for: key, in: name, at: Date(timeIntervalSince1970: seconds))
        }
        @discardableResult func sync() async -> Bool { await synchronizer.synchronize(name) }
    }

    private let remote = SimulatedDatasetStore()

    @Test("Changes go up and come down, removals too, and a push that is known does nothing")
    func upAndDown() async throws {
        let (one, two) = (Device(remote), Device(remote))
        await one.set("dark", for: "theme")
        await one.set("14", for: "size")
        #expect(await one.sync())
        #expect(await remote.values(of: Self.name) == ["theme": "dark", "size": "14"])
        let push = PushEvent.datasetChanged(DatasetPush(dataset: Self.name, syncCount: 1))
        #expect(await two.synchronizer.handle(push) == true)
        #expect(await two.values == ["theme": "dark", "size": "14"])
        #expect(await two.callbacks.calls == [.success(["size", "theme"])])
        let listed = await remote.listed.count
        #expect(await two.synchronizer.handle(push) == nil)
        #expect(await one.synchronizer.handle(push) == nil)
        #expect(await two.synchronizer.handle(.data([:])) == nil)
        #expect(await remote.listed.count == listed)
        await two.set(nil, for: "theme")
        await two.sync()
        await one.sync()
        #expect(await one.values == ["size": "14"])
        #expect(await one.local.records(["theme"], of: Self.name).isEmpty)
    }

    @Test("A conflict is resolved by the app: with the latest, the local, the remote, or another value")
    func conflicts() async throws {
        let resolutions: [(resolve: @Sendable (SyncConflict) -> LocalRecord, expected: String?)] = [
            ({ @Sendable in $0.resolvedWithLatest() }, "here"), ({ @Sendable in $0.resolvedWithLocal() }, "here"),
            ({ @Sendable in $0.resolvedWithRemote() }, "there"),
            ({ @Sendable in $0.resolved(with: "both") }, "both"), ({ @Sendable in $0.resolved(with: nil) }, nil),
        ]
        for (resolution, expected) in resolutions {
            let remote = SimulatedDatasetStore()
            let device = Device(remote)
            await device.callbacks.resolve { conflicts in conflicts.map { resolution($0) } }
            await device.set("first", for: "k")
            await device.sync()
            await remote.set("there", for: "k", in: Self.name, at: Date(timeIntervalSince1970: 1))
            await device.set("here", for: "k", at: 2)
            #expect(await device.sync())
            #expect(await device.values["k"] == expected)
            #expect(await remote.values(of: Self.name)["k"] == expected)
            #expect(await device.local.modifiedRecords(of: Self.name).isEmpty)
            #expect(await device.callbacks.calls.contains(.conflict(["k"])))
        }
    }

    @Test("The same change here and there is no conflict")
    func sameChange() async throws {
        let device = Device(remote)
        await remote.set("same", for: "k", in: Self.name)
        await device.set("same", for: "k")
        #expect(await device.sync())
        #expect(await device.callbacks.calls == [.success(["k"])])
        #expect(await remote.syncCount(of: Self.name) == 1)
    }

    @Test("A canceled or half resolved conflict fails, and both values stay")
    func unresolved() async throws {
        let device = Device(remote)
        await remote.set("there", for: "k", in: Self.name)
        await device.set("here", for: "k")
        await device.callbacks.resolve { _ in nil }
        #expect(await device.sync() == false)
        await device.callbacks.resolve { _ in [] }
        #expect(await device.sync() == false)
        #expect(
            await device.callbacks.calls
                == [
                    .conflict(["k"]), .failure(.canceled), .conflict(["k"]),
                    .failure(.conflictsUnresolved(keys: ["k"])),
                ])
        #expect(await device.values == ["k": "here"])
        #expect(await remote.values(of: Self.name) == ["k": "there"])
    }

    @Test("Somebody who is faster costs another attempt, and no value")
    func raceAtUpload() async throws {
        let device = Device(remote)
        await device.set("1", for: "k")
        await device.sync()
        await device.set("here", for: "k", at: 2)
        await remote.beforeNextUpload { await $0.set("there", for: "k", in: Self.name, at: .distantPast) }
        #expect(await device.sync())
        #expect(await remote.values(of: Self.name) == ["k": "here"])
        #expect(await device.callbacks.calls.suffix(2) == [.conflict(["k"]), .success(["k"])])
    }

    @Test("What the user changes while an upload is under way is kept, and goes up next")
    func changeDuringUpload() async throws {
        let device = Device(remote)
        await device.set("1", for: "k")
        await remote.beforeNextUpload { _ in await device.set("2", for: "k") }
        #expect(await device.sync())
        #expect(await remote.values(of: Self.name) == ["k": "1"])
        #expect(await device.values == ["k": "2"])
        #expect(await device.sync())
        #expect(await remote.values(of: Self.name) == ["k": "2"])
        #expect(await device.callbacks.calls == [.success([]), .success([])])
    }

    @Test("A deleted dataset is removed here if the app agrees, and one that was created again is fetched at once")
    func deletion() async throws {
        let device = Device(remote)
        await remote.set("old", for: "k", in: Self.name)
        await device.sync()
        await remote.delete(Self.name)
        await device.callbacks.answer(yes: false)
        let push = PushEvent.datasetDeleted(DatasetPush(dataset: Self.name, syncCount: nil))
        #expect(await device.synchronizer.handle(push) == false)
        #expect(await device.values == ["k": "old"])
        await device.callbacks.answer(yes: true)
        #expect(await device.synchronizer.handle(push) == true)
        #expect(await device.values.isEmpty)
        #expect(try await device.counts.syncCount(of: Self.name) == nil)
        await remote.set("new", for: "k", in: Self.name)
        await device.sync()
        await remote.delete(Self.name)
        await remote.set("newest", for: "j", in: Self.name)
        #expect(await device.sync())
        #expect(await device.values == ["j": "newest"])
        #expect(
            await device.callbacks.calls
                == [
                    .success(["k"]), .deleted, .failure(.canceled), .deleted, .success([]), .success(["k"]), .deleted,
                    .success(["j"]),
                ])
    }

    @Test("A dataset that is not there yet is not a deleted one: its first records go up")
    func firstRecords() async throws {
        let device = Device(remote)
        #expect(await device.sync())
        await device.set("1", for: "k")
        #expect(await device.sync())
        #expect(await remote.values(of: Self.name) == ["k": "1"])
        #expect(await device.callbacks.calls == [.success([]), .success([])])
    }

    @Test("Merged datasets are handed to the app, and listed again when it has merged them")
    func merges() async throws {
        let (device, remote) = (Device(remote), remote)
        await remote.merge(["settings.r:guest"], into: Self.name)
        await device.callbacks.onMerge { await remote.merge([], into: Self.name) }
        let push = DatasetPush(dataset: Self.name, syncCount: 3)
        #expect(await device.synchronizer.handle(.datasetsMerged(push, mergedDatasetNames: ["a"])) == true)
        #expect(await device.callbacks.calls == [.merged(["settings.r:guest"]), .success([])])
        await remote.merge(["settings.r:guest"], into: Self.name)
        await device.callbacks.onMerge {}
        #expect(await device.sync() == false)
        #expect(await device.callbacks.calls.last == .failure(.attemptsExhausted))
        await device.callbacks.answer(yes: false)
        #expect(await device.sync() == false)
        #expect(await device.callbacks.calls.last == .failure(.canceled))
    }

    @Test("A store's error fails the synchronisation, and the next one does the rest")
    func storeFailure() async throws {
        let device = Device(remote)
        await device.set("1", for: "k")
        await remote.failNext(1)
        #expect(await device.sync() == false)
        #expect(await device.callbacks.calls == [.failure(.storeFailed("Failure()"))])
        #expect(await device.sync())
        #expect(await remote.values(of: Self.name) == ["k": "1"])
    }

    @Test("While one synchronisation runs, one more is enough for all who ask")
    func joined() async throws {
        let device = Device(remote)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await device.sync() } }
            for await succeeded in group { #expect(succeeded) }
        }
        #expect(await (1...20).contains(remote.listed.count))
        #expect(await device.sync())
    }

    @Test("Devices that change at random and synchronise at random agree in the end")
    func convergence() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let remote = SimulatedDatasetStore()
            let devices = (0..<3).map { _ in Device(remote) }
            for step in 0..<60 {
                let device = devices[Int.random(in: 0..<devices.count, using: &generator)]
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<6:
                    let value = Bool.random(using: &generator) ? "\(step)" : nil
                    let key = "k\(Int.random(in: 0..<4, using: &generator))"
                    await device.set(value, for: key, at: Double(step))
                case 6:
                    let key = "k\(Int.random(in: 0..<4, using: &generator))"
                    await remote.beforeNextUpload { await $0.set("x\(step)", for: key, in: Self.name) }
                case 7: await remote.failNext(1)
                default: await device.sync()
                }
            }
            for _ in 0..<3 { for device in devices { await device.sync() } }
            for device in devices {
                #expect(await device.sync(), "seed \(seed)")
                #expect(await device.values == remote.values(of: Self.name), "seed \(seed)")
                #expect(await device.local.modifiedRecords(of: Self.name).isEmpty, "seed \(seed)")
            }
        }
    }
}
