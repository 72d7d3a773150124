import Glibc
import PushTestKit

extension Scenario {
    private static func postgreSQL(
        _ name: String, _ sentence: String, redeliveries: Int = 0,
        strike: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        Scenario(
            name: name, domain: .registry, sentence: sentence, setting: Setting(registry: .postgreSQL),
            redeliveries: redeliveries, strike: strike)
    }

    /// The database dies as by a power failure, and comes back.
    static let databaseKilled = postgreSQL(
        "registry-postgresql-killed", "PostgreSQL is killed, and started again after 5 s"
    ) { stage in
        try stage.database.kill()
        try await Pause.seconds(5)
        try await stage.database.startAgain()
        try await stage.waitUntilReady()
    }

    /// The database dies for good, and its standby takes over.
    static let databaseFailedOver = postgreSQL(
        "registry-postgresql-failover", "PostgreSQL is killed, and its standby is promoted"
    ) { stage in
        try stage.database.kill()
        try await stage.standby.promote()
        try await stage.waitUntilReady()
    }.prepared { try await $0.addStandby() }

    /// The database's machine stops answering without a word, and its standby takes over.
    static let databaseHanging = postgreSQL(
        "registry-postgresql-hangs", "PostgreSQL stands still (SIGSTOP), and its standby is promoted"
    ) { stage in
        try stage.database.pause()
        try await stage.standby.promote()
        try await stage.waitUntilReady()
        try stage.database.resume()
    }.prepared { try await $0.addStandby() }

    /// The database is far away.
    static let databaseSlow = postgreSQL(
        "registry-postgresql-slow",
        "200 ms there and back, with jitter, to PostgreSQL, and then ten seconds with one byte at a time"
    ) { stage in
        try await stage.weather(.distant, .registry, seconds: 10)
        try await stage.weather(.dripping, .registry, seconds: 10)
    }.prepared { try await $0.putProxy(before: .registry) }

    /// The network to the database cuts and stalls.
    static let databaseCutOff = postgreSQL(
        "registry-postgresql-cut-off",
        "connections to PostgreSQL are reset after a drawn number of bytes, six times, and then silent for 15 s"
    ) { stage in
        for round in 0..<6 {
            let trap = ProxyTrap(.bytes(ProxyDirection.allCases[round % 2], stage.draw(0...4_000)))
            try await stage.spring(trap, .registry) { try await $0.resetAll() }
        }
        try await stage.weather(.silent([.toServer, .toClient], .swallowed), .registry, seconds: 15)
    }.prepared { try await $0.putProxy(before: .registry) }
}
