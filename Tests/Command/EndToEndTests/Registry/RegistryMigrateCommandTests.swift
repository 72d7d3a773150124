import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("apus registry migrate")
struct RegistryMigrateCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(arguments + ["--set", "registry.url=sqlite:registry.db"], in: folder)
    }

    /// A registry as the first program made it, which wrote nothing down about migrations.
    private func makeFirstRegistry() async throws {
        let path = folder.path + "/registry.db"
        let first = SchemaMigrations([SQLiteRegistry.migrations.all[0]])
        _ = try SQLiteRegistry.open(path: path, mode: .create, migrations: first)
        let dropped = try await CommandRunner.run(
            "/usr/bin/sqlite3", [path, "DROP TABLE schema_migration"], in: folder)
        try #require(dropped.exitCode == 0, "\(dropped)")
    }

    @Test("The registry of the first program goes up to the newest schema and back, and a dry run changes nothing")
    func upAndDown() async throws {
        try await makeFirstRegistry()
        let newest = SQLiteRegistry.migrations.newest
        let trial = try await apus("registry", "migrate", "--dry-run", "--json")
        #expect(trial.exitCode == 0 && trial.output.contains(#""after":{"version":1,"#), "\(trial)")
        for migration in SQLiteRegistry.migrations.all.dropFirst() {
            #expect(trial.output.contains(#"{"version":\#(migration.version),"direction":"up","result":"planned""#))
        }
        let up = try await apus("registry", "migrate")
        #expect(up.exitCode == 0 && up.output.contains("now: schema version \(newest), for programs"), "\(up)")
        #expect(try await apus("device", "list").exitCode == 0)
        let down = try await apus("registry", "migrate", "--down", "--to", "1", "--json")
        #expect(down.exitCode == 0 && down.output.contains(#""after":{"version":1,"#), "\(down)")
        let below = try await apus("registry", "migrate", "--down")
        #expect(below.exitCode == 65 && below.errors.contains("cannot be undone"), "\(below)")
    }

    @Test("A version that there is not, and a registry that there is not, are refused with what to do")
    func refusals() async throws {
        let missing = try await apus("registry", "migrate")
        #expect(missing.exitCode == 69 && missing.errors.contains("registry.db"), "\(missing)")
        #expect(!missing.output.contains("now:"))
        try await makeFirstRegistry()
        let unknown = try await apus("registry", "migrate", "--to", "99")
        #expect(unknown.exitCode == 65 && unknown.errors.contains("no schema version 99"), "\(unknown)")
        #expect(try await apus("registry", "migrate", "--to", "zero").exitCode == 64)
    }
}
