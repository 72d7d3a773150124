import PushTestKit

/// Scenarios with something between the workers and their database: a name that leads elsewhere, a pooler.
extension Scenario {
    private static func database(
        _ name: String, _ sentence: String, strike: @escaping @Sendable (Environment) async throws -> Void
    ) -> Scenario {
        Scenario(
            name: name, domain: .registry, sentence: sentence, setting: Setting(registry: .postgreSQL),
            redeliveries: 0, strike: strike)
    }

    private static let standbySeconds = 8.0

    /// After a failover the name leads to a server that can only be read, and connections to it stay open.
    static let databaseMoved = database(
        "registry-postgresql-standby",
        "twice, all connections to PostgreSQL are reset and new ones lead to the standby for 8 s; those stay open"
    ) { environment in
        let proxy = try environment.proxy(.registry)
        for _ in 0..<2 {
            try await proxy.redirect(to: try environment.standby.port)
            try await proxy.resetAll()
            try await Pause.seconds(standbySeconds)
            try await proxy.redirect(to: try environment.database.port)
            try await environment.waitUntilReady()
        }
    }.prepared { environment in
        try await environment.startStandby()
        try await environment.putProxy(before: .registry)
    }

    private static func pooled(_ mode: PrivatePgBouncer.Mode) -> Scenario {
        database(
            "registry-pgbouncer-\(mode)",
            "PgBouncer lends sessions by \(mode); it is killed for 2 s, and then PostgreSQL behind it"
        ) { environment in
            try environment.pooler.kill()
            try await Pause.seconds(2)
            try await environment.pooler.startAgain()
            try await environment.waitUntilReady()
            try environment.database.kill()
            try await Pause.seconds(2)
            try await environment.database.startAgain()
            try await environment.waitUntilReady()
        }.prepared { try await $0.putPooler(mode) }
    }

    /// A pooler that lends sessions for a transaction.
    static let pooledByTransaction = pooled(.transaction)

    /// A pooler that lends sessions for as long as the connection lasts.
    static let pooledBySession = pooled(.session)
}
