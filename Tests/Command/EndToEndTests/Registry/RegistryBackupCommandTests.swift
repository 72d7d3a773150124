import Foundation
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("apus registry backup")
struct RegistryBackupCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        try await CommandRunner.apus(
            arguments + ["--set", "registry.url=sqlite:registry.db"], input: input, in: folder)
    }

    private static func lines(_ numbers: Range<Int>) -> String {
        numbers.map { index in
            #"{"deviceId":"device-\#(index)","platform":"APNS","token":"\#(TestDevices.token(index))","app":"chat"}"#
                + "\n"
        }.joined()
    }

    @Test("The copy of a registry in use is complete, its owner's alone, and can take the registry's place")
    func restores() async throws {
        #expect(try await apus("device", "import", input: Self.lines(0..<100)).exitCode == 0)
        // It keeps the write-ahead log, in which the devices are, from being folded into the file.
        let user = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
        #expect(try user.deviceCount() == 100)
        let backup = try await apus("registry", "backup", "copy.db", "--json")
        #expect(backup.exitCode == 0 && backup.output.contains(#""file":"copy.db""#), "\(backup)")
        #expect(backup.output.contains(#""devices":100"#), "\(backup)")
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/copy.db")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await apus("device", "import", input: Self.lines(100..<110)).exitCode == 0)
        let set = "registry.url=sqlite:copy.db"
        let listed = try await CommandRunner.apus(["device", "list", "--json", "--set", set], in: folder)
        #expect(listed.output.split(separator: "\n").count == 100)
        #expect(try SQLiteRegistry.open(path: folder.path + "/copy.db", mode: .readWrite).schemaWarning() == nil)
    }

    @Test("A file that exists stays as it is, and what cannot be written leaves nothing behind")
    func refusals() async throws {
        #expect(try await apus("device", "import", input: Self.lines(0..<1)).exitCode == 0)
        try folder.write("copy.db", "mine")
        let existing = try await apus("registry", "backup", "copy.db")
        #expect(existing.exitCode == 65 && existing.errors.contains("copy.db exists"), "\(existing)")
        #expect(try folder.read("copy.db") == "mine")
        let nowhere = try await apus("registry", "backup", "none/copy.db")
        #expect(nowhere.exitCode == 69 && nowhere.errors.contains("none/copy.db"), "\(nowhere)")
        let postgres = try await CommandRunner.apus(
            ["registry", "backup", "x.db", "--set", "registry.url=postgresql://h/d"], in: folder)
        #expect(postgres.exitCode == 64 && postgres.errors.contains("pg_dump"), "\(postgres)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.hasSuffix(".partial") } && !files.contains("x.db"), "\(files)")
    }
}
