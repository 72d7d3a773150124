import PostgreSQL
import PushTestKit
import RegistryCore
import Testing

@testable import PostgresRegistry

/// Tests of rows that another program may have written into the tables.
struct EditedRowTests {
    private func makeURL() async throws -> String {
        let server = try await PrivatePostgreSQL.shared()
        return server.url(database: try await server.makeDatabase())
    }

    private func execute(_ statement: String, _ url: String) throws {
        let connection = Connection(
            address: try ServerAddress(ofRegistry: url), callMilliseconds: 120_000, connectMilliseconds: 60_000
        ) { (connection) throws(RegistryError) in
            try connection.execute("SET search_path = apus; \(statement)", Deadline(milliseconds: 120_000))
        }
        try connection.ensureOpen()
        connection.close()
    }

    private func rows(_ number: Int64) async throws -> EditedRows {
        let url = try await makeURL()
        let registry = try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        return EditedRows(registry, number: number) { try execute($0, url) }
    }

    @Test("The least and the greatest number in a row stop nothing that reads it", arguments: [Int64.min, Int64.max])
    func extremes(_ number: Int64) async throws {
        try await rows(number).checkDevicesAndFanOuts(badge: Int64(Int32(clamping: number)))
    }

    @Test(
        "The least and the greatest number in a row of a dead letter stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func deadLetters(_ number: Int64) async throws { try await rows(number).checkDeadLetters() }

    @Test(
        "The least and the greatest number in a row of a chunk stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func chunks(_ number: Int64) async throws { try await rows(number).checkChunks(bytes: "'\\x0102030405'") }

    @Test("A version of the schema that there is not is refused with what to do")
    func negativeVersion() async throws {
        let url = try await makeURL()
        _ = try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        try execute("UPDATE schema_version SET version = -1", url)
        let error = #expect(throws: RegistryError.self) {
            _ = try PostgresRegistry.open(
                url: url, mode: .readWrite, callMilliseconds: 120_000, connectMilliseconds: 60_000)
        }
        #expect(error?.code == .invalid && error?.message.contains("schema_version") == true)
    }
}
