import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

/// Several connections on one file, as several processes have them.
struct SharedFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/registry.db"
    }

    @Test("Many may make and open a new file at the same moment")
    func openTogether() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let registry = try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 60_000)
                    try registry.upsert([try Fixture.device(number)])
                }
            }
            try await group.waitForAll()
        }
        #expect(try SQLiteRegistry.open(path: path, mode: .readOnly).deviceCount() == 8)
    }

    @Test("Whoever opens a file while another makes it a registry sees nothing or all of it")
    func openWhileMade() async throws {
        for round in 0..<100 {
            let path = folder.path + "/\(round).db"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 60_000)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Servers that start at the same moment get one key")
    func keyTogether() async throws {
        let path = path
        let keys = try await withThrowingTaskGroup(of: CourierKey.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 60_000).courierKey()
                }
            }
            return try await group.reduce(into: Set<CourierKey>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test("Two writers and a reader do not disturb each other")
    func writersAndReader() async throws {
        let path = path
        try SQLiteRegistry.open(path: path, mode: .create).register(try Fixture.registrations(0..<200))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    let registry = try SQLiteRegistry.open(
                        path: path, mode: .readWrite, busyTimeoutMilliseconds: 60_000)
                    for step in 0..<50 {
                        let start = 1_000 + writer * 1_000 + step * 10
                        try registry.register(try Fixture.registrations(start..<start + 10))
                    }
                }
            }
            group.addTask {
                let registry = try SQLiteRegistry.open(path: path, mode: .readOnly)
                for _ in 0..<100 {
                    let pages = try registry.resolve((0..<200).map { Fixture.request($0) }, limit: 5)
                    #expect(pages.allSatisfy { $0.devices.count == 1 })
                }
            }
            try await group.waitForAll()
        }
        #expect(try SQLiteRegistry.open(path: path, mode: .readOnly).deviceCount() == 1_200)
    }

    @Test("What one connection commits, another sees at its next call, also names that were not there before")
    func seesCommits() throws {
        let writer = try SQLiteRegistry.open(path: path, mode: .create)
        let reader = try SQLiteRegistry.open(path: path, mode: .readWrite)
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.isEmpty)
        try writer.register(try Fixture.registrations(0..<3))
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        #expect(try writer.removeDevice("device-1"))
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.isEmpty)
    }

    @Test("A registry that another one has locked says so after its patience, and can be read meanwhile")
    func lockedByAnother() throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 20)
        try registry.register(try Fixture.registrations(0..<3))
        let other = try Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: RegistryError.self) { try registry.upsert([try Fixture.device(9)]) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("locked") == true && error?.message.contains(path) == true)
        #expect(try registry.resolve([Fixture.request(2)], limit: 5)[0].devices.count == 1)
        try other.execute("COMMIT")
        try registry.upsert([try Fixture.device(9)])
        #expect(try registry.deviceCount() == 4)
    }

    @Test("A registry that is locked while it is opened says so after its patience")
    func lockedAtOpening() throws {
        let other = try Connection(path: path, mode: .create, busyTimeoutMilliseconds: 0)
        try other.execute("BEGIN EXCLUSIVE")
        let error = #expect(throws: RegistryError.self) {
            _ = try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 20)
        }
        #expect(error?.code == .unavailable)
        try other.execute("COMMIT")
        #expect(try SQLiteRegistry.open(path: path, mode: .create).deviceCount() == 0)
    }

    @Test("A name that a failed transaction had added is not remembered")
    func forgetsRolledBackNames() throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.connection.execute("PRAGMA max_page_count = 60")
        #expect(throws: RegistryError.self) { try registry.register(try Fixture.registrations(0..<5_000)) }
        try registry.connection.execute("PRAGMA max_page_count = 100000")
        var other = try Fixture.device(1)
        other.app = "mail"
        try registry.upsert([other])
        try registry.upsert([try Fixture.device(2)])
        let reader = try SQLiteRegistry.open(path: path, mode: .readOnly)
        #expect(try reader.device("device-1") == other)
        #expect(try reader.device("device-2") == Fixture.device(2))
    }
}
