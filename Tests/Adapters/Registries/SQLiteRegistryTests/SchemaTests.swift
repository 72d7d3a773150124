import PushTestKit
import RegistryCore
import Testing

@testable import SQLiteRegistry

/// The schema of a registry file, and its migrations.
struct SchemaTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/registry.db"
    }

    @Test("The SQLite registry keeps what is required of migrations", arguments: SchemaConformance.all)
    func conforms(_ conformance: SchemaConformance) async throws {
        let path = path
        try await conformance.check(
            SchemaConformance.Store(
                released: SQLiteRegistry.migrations,
                open: { mode, migrations in
                    try SQLiteRegistry.open(
                        path: path, mode: mode, busyTimeoutMilliseconds: 60_000, migrations: migrations)
                },
                migrator: { migrations in
                    try SQLiteMigrator(path: path, migrations: migrations, busyTimeoutMilliseconds: 60_000)
                },
                execute: { sql in
                    try Connection(path: path, mode: .existing, busyTimeoutMilliseconds: 60_000).execute(sql)
                },
                columns: { try Self.columns(path) }))
    }

    private static func columns(_ path: String) throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 60_000)
        let statement = try Statement(
            """
            SELECT s.name || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '')
            FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.name <> 'schema_migration' ORDER BY 1
            """, connection: connection)
        var lines: [String] = []
        try statement.forEachRow { row in lines.append(row.text(0)) }
        return lines
    }

    @Test("An empty file is no registry to migrate, and stays empty")
    func emptyFile() throws {
        try folder.write("registry.db", "")
        let error = #expect(throws: RegistryError.self) { try SQLiteMigrator(path: path).schemaState() }
        #expect(error?.code == .notFound && error?.message.contains("'apus run'") == true)
        #expect(try folder.read("registry.db").isEmpty)
    }

    @Test("A registry says whether opening made it")
    func isNew() throws {
        #expect(try SQLiteRegistry.open(path: path, mode: .create).isNew)
        #expect(try !SQLiteRegistry.open(path: path, mode: .create).isNew)
    }

    @Test("A version that there is not is refused with what to do", arguments: [0, -1, Int64(Int32.min)])
    func editedVersion(_ version: Int64) throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        try registry.connection.execute("PRAGMA user_version = \(version)")
        let error = #expect(throws: RegistryError.self) { _ = try SQLiteRegistry.open(path: path, mode: .readWrite) }
        #expect(error?.code == .invalid && error?.message.contains("PRAGMA user_version") == true)
    }
}
