import PushTestKit
import Synchronization

/// A backend's database with an outbox, on a server of its own.
struct StagedOutbox: Sendable {
    /// How many rows a relay holds: two batches of these are what a worker's prefetch is to a worker.
    private static let batchRows = Environment.prefetch / 2

    let server: PrivatePostgreSQL
    let database: String

    /// The lines of `apus.toml`.
    var configuration: String {
        "\n[relay]\nurl = \"\(server.url(database: database))\"\nbatch = \(Self.batchRows)"
    }

    /// Runs SQL as a backend does; gives its output.
    @discardableResult
    func run(_ sql: String) async throws -> String { try await server.run(sql, database: database) }
}

extension Environment {
    /// The backend's database; only with `Setting.relays`.
    var outbox: StagedOutbox { get throws { try part("outbox", \.outbox) } }

    /// Starts the backend's database, with the outbox and a table of its own.
    func startOutbox() async throws {
        let server = try await PrivatePostgreSQL.start()
        atEnd { server.stop() }
        let outbox = StagedOutbox(server: server, database: try await server.makeDatabase())
        let sql = try await apus("relay", "sql")
        guard sql.exitCode == 0 else { throw EnvironmentFailure("relay sql: \(sql.errors)") }
        try await outbox.run(sql.output)
        try await outbox.run(OutboxLoad.table)
        state.withLock { $0.outbox = outbox }
    }

    /// Starts the relays of the setting.
    func startRelays() throws {
        var arguments = ["relay", "--listen", "127.0.0.1:0"]
        if let url = addresses.relayBrokerURL { arguments += ["--set", "rabbitmq.url=\(url)"] }
        for number in 0..<scenario.setting.relays {
            let relay = WorkerSupervisor("relay-\(number + 1)", arguments: arguments, folder: folder)
            state.withLock { $0.relays.append(relay) }
            try relay.start()
        }
    }

    /// How many committed rows wait in the outbox.
    func rowCount() async throws -> Int {
        guard let outbox = state.withLock({ $0.outbox }) else { return 0 }
        return Int(try await outbox.run("SELECT count(*) FROM apus_outbox.event")) ?? 0
    }

    /// The identifiers of the rows that relays have set aside, because they make no event.
    func refusedIdentifiers() async throws -> [String] {
        guard let outbox = state.withLock({ $0.outbox }) else { return [] }
        return try await outbox.run("SELECT event ->> 'id' FROM apus_outbox.refused").split(separator: "\n").map(
            String.init)
    }
}
