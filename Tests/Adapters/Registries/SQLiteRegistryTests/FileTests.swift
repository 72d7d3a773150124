import ChangeEvents
import Foundation
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

/// Files that are missing, damaged, foreign, or not to be written.
struct FileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/registry.db"
    }

    private func expect(
        _ code: RegistryError.Code, mentioning words: String..., from body: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: RegistryError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        for word in words + [folder.path] {
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        }
    }

    @Test("A missing file is made only if that is wished")
    func missingFile() throws {
        expect(.unavailable, mentioning: "No such file") { _ = try SQLiteRegistry.open(path: path, mode: .readWrite) }
        expect(.unavailable, mentioning: "path") { _ = try SQLiteRegistry.open(path: path, mode: .readOnly) }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try SQLiteRegistry.open(path: path, mode: .create).deviceCount() == 0)
        #expect(try SQLiteRegistry.open(path: path, mode: .readWrite).deviceCount() == 0)
        #expect(try SQLiteRegistry.open(path: path, mode: .readOnly).deviceCount() == 0)
    }

    @Test("A missing folder, and a folder in the place of the file, are named")
    func missingFolder() {
        expect(.unavailable, mentioning: "folder exists") {
            _ = try SQLiteRegistry.open(path: folder.path + "/none/registry.db", mode: .create)
        }
        expect(.unavailable, mentioning: "path is right") {
            _ = try SQLiteRegistry.open(path: folder.path, mode: .create)
        }
    }

    @Test("An empty file becomes a registry")
    func emptyFile() throws {
        try folder.write("registry.db", "")
        expect(.readOnly, mentioning: "is empty") { _ = try SQLiteRegistry.open(path: path, mode: .readOnly) }
        #expect(try SQLiteRegistry.open(path: path, mode: .readWrite).deviceCount() == 0)
    }

    @Test("Garbage is refused, whatever the mode", arguments: [16, 100, 5_000, 100_000])
    func garbage(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        try folder.write("registry.db", (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        for mode in [RegistryOpenMode.readOnly, .readWrite, .create] {
            expect(.corrupt, mentioning: "integrity_check", "backup") {
                _ = try SQLiteRegistry.open(path: path, mode: mode)
            }
        }
    }

    @Test("A file that was cut off or has wrong bytes gives errors, never a crash", arguments: 0..<20)
    func damagedFile(_ round: Int) throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.register(try Fixture.registrations(0..<500))
        try registry.connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        if round % 4 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator)) }
        for _ in 0..<(round % 4 == 0 ? 0 : 1 << (round % 10)) {
            bytes[Int.random(in: 100..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        try folder.write("damaged.db", bytes)
        do {
            try useEverything(try SQLiteRegistry.open(path: folder.path + "/damaged.db", mode: .readWrite))
        } catch let error as RegistryError {
            let expected: [RegistryError.Code] = [.corrupt, .failed, .invalid, .unavailable, .newerSchema]
            #expect(expected.contains(error.code), "seed \(seed): \(error)")
        }
    }

    private func useEverything(_ registry: SQLiteRegistry) throws {
        _ = try registry.deviceCount()
        let devices = try registry.devices(matching: DeviceFilter(), after: nil, limit: 1_000)
        let requests = (0..<500).map { Fixture.request($0) }
        _ = try registry.resolve(requests, limit: 10)
        let tokens = Audience.tokens(devices.map(\.token), app: "chat")
        _ = try registry.resolve([AudienceRequest(audience: tokens)], limit: 1_000)
        try registry.upsert(Array(devices.prefix(100)))
        for device in devices.prefix(100) { _ = try registry.removeDevice(device.deviceID) }
    }

    @Test("Another program's database is left alone")
    func foreignDatabase() throws {
        let other = try Connection(path: path, mode: .create, busyTimeoutMilliseconds: 0)
        try other.execute("CREATE TABLE note (text TEXT)")
        expect(.invalid, mentioning: "another program") { _ = try SQLiteRegistry.open(path: path, mode: .create) }
        try other.execute("PRAGMA application_id = 5")
        expect(.invalid, mentioning: "another program") { _ = try SQLiteRegistry.open(path: path, mode: .readOnly) }
    }

    @Test(
        "A newer schema is refused with both versions, and left alone", arguments: [Schema.migrations.newest + 1, 99])
    func otherSchema(_ version: Int64) throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.connection.execute("DROP TABLE schema_migration; PRAGMA user_version = \(version)")
        for mode in [RegistryOpenMode.readOnly, .readWrite, .create] {
            expect(.newerSchema, mentioning: "version \(version),", "only \(Schema.migrations.newest)") {
                _ = try SQLiteRegistry.open(path: path, mode: mode)
            }
        }
    }

    @Test("A registry that was opened to read cannot be written")
    func readOnlyMode() throws {
        let writer = try SQLiteRegistry.open(path: path, mode: .create)
        try writer.register(try Fixture.registrations(0..<3))
        let reader = try SQLiteRegistry.open(path: path, mode: .readOnly)
        #expect(try reader.resolve([Fixture.request(2)], limit: 5)[0].devices.count == 1)
        expect(.readOnly, mentioning: "cannot be written") { try reader.upsert([try Fixture.device(9)]) }
        #expect(try reader.deviceCount() == 3)
    }

    @Test("A registry that may only be read says so when a fan-out is to begin")
    func refusesToBeginReadOnly() throws {
        _ = try SQLiteRegistry.open(path: path, mode: .create)
        let registry = try SQLiteRegistry.open(path: path, mode: .readOnly)
        let event = FanOutEvent(
            digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1",
            type: "push.requested")
        let error = #expect(throws: RegistryError.self) {
            _ = try registry.beginFanOut(event, planner: 1, nowMilliseconds: 0)
        }
        #expect(error?.code == .readOnly)
    }

    @Test("A full disk is reported, and nothing is half written")
    func fullDisk() throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.register(try Fixture.registrations(0..<10))
        // The page limit makes SQLite report what a full disk makes it report.
        try registry.connection.execute("PRAGMA max_page_count = 60")
        expect(.readOnly, mentioning: "full") { try registry.register(try Fixture.registrations(10..<5_000)) }
        #expect(try registry.deviceCount() == 10)
        try registry.connection.execute("PRAGMA max_page_count = 100000")
        try registry.register(try Fixture.registrations(10..<5_000))
        #expect(try registry.resolve([Fixture.request(4_999)], limit: 5)[0].devices.count == 1)
    }
}
