import ChangeEvents
import Messages
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
    func publish(_ numbers: ClosedRange<Int>, app: String = "chat", key: String? = nil) async throws {
        try await run(
            """
            SELECT count(apus_outbox.publish('push.requested', jsonb_build_object('app', '\(app)', 'userIds',
                jsonb_build_array('mei'), 'notification', '{"title": "Hi"}'::jsonb), id => n::text,
                key => \(key.map { "'\($0)'" } ?? "NULL")))
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

    /// Takes all rows from the outbox, and reads them as a worker does.
    func takeRecords() throws -> [RecordChange] {
        let relay = try Outbox(url: url)
        var changes: [RecordChange] = []
        while case let rows = try relay.take(1_000), !rows.isEmpty {
            for row in rows {
                var message = Message(body: row.event)
                message.properties.contentType = "application/cloudevents+json"
                guard case .record(let change) = try EventDecoder().decode(message).kind else {
                    throw PrivateServerFailure("no event of a record: \(String(decoding: row.event, as: UTF8.self))")
                }
                changes.append(change)
            }
            try relay.finish(published: rows.map(\.number), refused: [])
        }
        relay.close()
        return changes
    }

    /// Runs SQL that has to fail, and returns the server's message.
    func failure(of sql: String) async throws -> String {
        do { try await run(sql) } catch { return "\(error)" }
        return "nothing failed: \(sql)"
    }
}
