import Glibc
import PushTestKit

extension Scenario {
    private static func postgreSQL(
        _ name: String, _ sentence: String, redeliveries: Int = 0, mayEndWorkers: Bool = false,
        strike: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        Scenario(
            name: name, domain: .registry, sentence: sentence, setting: Setting(registry: .postgreSQL),
            redeliveries: redeliveries, mayEndWorkers: mayEndWorkers, strike: strike)
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

    /// Each answer of the database takes two seconds, and a worker is asked to end meanwhile.
    static let databaseLate = postgreSQL(
        "registry-postgresql-late",
        "each answer of PostgreSQL takes 2 s for 20 s: /readyz names the registry, and a worker drains at SIGTERM",
        // Its successor does not start before it can connect; its supervisor tries again.
        mayEndWorkers: true
    ) { stage in
        async let late: Void = stage.weather(
            ProxyWeather(delayMilliseconds: 1_000...1_000), .registry, seconds: 20)
        let worker = stage.drawWorker()
        try await eventually("/readyz to name the registry", within: .seconds(15)) {
            guard let answer = await worker.get("/readyz") else { return false }
            return answer.status == 503 && answer.body.contains("registry")
        }
        let exitCode = try await worker.endBySignal(SIGTERM)
        if exitCode != 0 { stage.report(problem: "a worker that was asked to end ended with \(exitCode)") }
        try await late
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
