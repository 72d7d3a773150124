import PostgreSQL
import PushTestKit

@testable import Relay

/// An outbox in a database of its own on the shared server.
struct TestOutbox {
    let server: PrivatePostgreSQL
    let database: String

    var url: String { server.url(database: database) }

    static func make() async throws -> TestOutbox {
        let server = try await PrivatePostgreSQL.shared()
        let outbox = TestOutbox(server: server, database: try await server.makeDatabase())
        try await outbox.run(OutboxSQL.text(relayRole: nil, publisherRole: nil))
        return outbox
    }

    @discardableResult
    func run(_ sql: String) async throws -> String { try await server.run(sql, database: database) }

    /// Writes pushes to `user`, each with its number as id, in one transaction.
    func publish(_ numbers: ClosedRange<Int>, app: String = "chat") async throws {
        try await run(
            """
            SELECT count(apus_outbox.publish('push.requested', jsonb_build_object('app', '\(app)', 'userIds',
                jsonb_build_array('mei'), 'notification', '{"title": "Hi"}'::jsonb), id => n::text))
            FROM generate_series(\(numbers.lowerBound), \(numbers.upperBound)) n
            """)
    }

    func rowCount(_ table: String = "event") async throws -> Int {
        Int(try await run("SELECT count(*) FROM apus_outbox.\(table)")) ?? -1
    }

    /// A session of a backend.
    func session() throws -> PostgresConnection<OutboxError> {
        let connection = PostgresConnection<OutboxError>(
            address: try ServerAddress(url: url), callMilliseconds: 120_000, connectMilliseconds: 60_000
        ) { _ in }
        try connection.ensureOpen()
        return connection
    }
}
