import Foundation
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

/// Files that are taken away while they are used, and checks whether a registry can be written.
struct FileLossTests {
    private let folder: TemporaryFolder
    private let path: String
    private let registry: SQLiteRegistry

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/registry.db"
        registry = try SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 10)
        try registry.register(try Fixture.registrations(0..<3))
    }

    private func expectLoss(of file: String, _ word: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let device = Result { try Fixture.device(9) }
        for body: () throws -> Void in [
            { try registry.upsert([try device.get()]) }, { _ = try registry.device("device-1") },
            { try registry.checkWriting(thoroughly: false) }, { try registry.checkWriting(thoroughly: true) },
        ] {
            let error = #expect(throws: RegistryError.self, sourceLocation: sourceLocation) { try body() }
            #expect(error?.code == .unavailable, sourceLocation: sourceLocation)
            let message = error?.message ?? ""
            for part in [file, word, "start them again"] {
                #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("A registry whose file was removed is neither read nor written, and serves again when it is back")
    func removedFile() throws {
        let aside = folder.path + "/aside"
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        expectLoss(of: path, "removed")
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        try registry.upsert([try Fixture.device(9)])
        #expect(try registry.deviceCount() == 4)
    }

    @Test("A registry whose file was replaced by another is neither read nor written")
    func replacedFile() throws {
        let other = folder.path + "/other"
        _ = try SQLiteRegistry.open(path: other, mode: .create)
        #expect(rename(other, path) == 0)
        expectLoss(of: path, "replaced")
    }

    @Test("A registry whose log was removed is neither read nor written", arguments: ["-wal", "-shm"])
    func removedLog(_ ending: String) throws {
        try FileManager.default.removeItem(atPath: path + ending)
        expectLoss(of: path + ending, "removed")
    }

    @Test("A registry behind a link is watched where the link leads")
    func link() throws {
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let linked = try SQLiteRegistry.open(path: link, mode: .readWrite)
        #expect(try linked.deviceCount() == 3)
        try FileManager.default.removeItem(atPath: path + "-wal")
        let error = #expect(throws: RegistryError.self) { try linked.upsert([try Fixture.device(9)]) }
        #expect(error?.message.contains(path + "-wal") == true, "\(String(describing: error))")
    }

    @Test("A write whose file is removed before it is done is not confirmed")
    func removedWhileWriting() throws {
        let error = #expect(throws: RegistryError.self) {
            try registry.writing(durable: true) { () throws(RegistryError) in
                try registry.connection.execute("UPDATE device SET badge = 7")
                unlink(path)
            }
        }
        #expect(error?.code == .unavailable)
    }

    @Test("A check finds a lock, a full disk and a file that may not be written, and changes nothing")
    func checks() throws {
        let before = try registry.deviceCount()
        for isThorough in [false, true] { try registry.checkWriting(thoroughly: isThorough) }
        let other = try Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        for isThorough in [false, true] {
            let error = #expect(throws: RegistryError.self) { try registry.checkWriting(thoroughly: isThorough) }
            #expect(error?.code == .unavailable && error?.message.contains("locked") == true)
        }
        try other.execute("ROLLBACK")
        try registry.connection.execute("PRAGMA max_page_count = 1")
        let error = #expect(throws: RegistryError.self) { try registry.checkWriting(thoroughly: true) }
        #expect(error?.code == .readOnly && error?.message.contains("full") == true)
        try registry.connection.execute("PRAGMA max_page_count = 100000")
        try registry.checkWriting(thoroughly: true)
        #expect(try registry.deviceCount() == before)
        #expect(try registry.poolConfigurations().isEmpty)
        let reader = try SQLiteRegistry.open(path: path, mode: .readOnly)
        #expect(throws: RegistryError.self) { try reader.checkWriting(thoroughly: true) }
    }

    @Test("A thorough check needs room on the disk")
    func thoroughCheckWrites() throws {
        try registry.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        func logBytes() throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
        }
        try registry.checkWriting(thoroughly: false)
        #expect(try logBytes() == 0)
        try registry.checkWriting(thoroughly: true)
        #expect(try logBytes() > 32_768)
    }

    @Test("The files of a new registry are their owner's alone, and looser ones are told of")
    func modes() throws {
        for file in Connection.files(of: path) {
            #expect(RegistryFile.looseMode(path: file) == nil)
            #expect(FileManager.default.fileExists(atPath: file))
        }
        #expect(SQLiteRegistry.modeWarnings(path: path).isEmpty)
        #expect(chmod(path + "-wal", 0o640) == 0)
        let warnings = SQLiteRegistry.modeWarnings(path: path)
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("640") == true && warnings.first?.contains("chmod 600 \(path)-wal") == true)
        // An operator's choice is left as it is.
        _ = try SQLiteRegistry.open(path: path, mode: .create)
        #expect(RegistryFile.looseMode(path: path + "-wal") == 0o640)
    }
}
