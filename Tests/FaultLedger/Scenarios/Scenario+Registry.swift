import Glibc
import PushTestKit

extension Scenario {
    private static func postgreSQL(
        _ name: String, _ sentence: String, redeliveries: Int = 0, mayEndWorkers: Bool = false,
        strike: @escaping @Sendable (Environment) async throws -> Void
    ) -> Scenario {
        Scenario(
            name: name, domain: .registry, sentence: sentence, setting: Setting(registry: .postgreSQL),
            redeliveries: redeliveries, mayEndWorkers: mayEndWorkers, strike: strike)
    }

    /// The database dies as by a power failure, and comes back.
    static let databaseKilled = postgreSQL(
        "registry-postgresql-killed", "PostgreSQL is killed, and started again after 5 s"
    ) { environment in
        try environment.database.kill()
        try await Pause.seconds(5)
        try await environment.database.startAgain()
        try await environment.waitUntilReady()
    }

    /// The database dies for good, and its standby takes over.
    static let databaseFailedOver = postgreSQL(
        "registry-postgresql-failover", "PostgreSQL is killed, and its standby is promoted"
    ) { environment in
        try environment.database.kill()
        try await environment.standby.promote()
        try await environment.waitUntilReady()
    }.prepared { try await $0.addStandby() }

    /// The database's machine stops answering without a word, and its standby takes over.
    static let databaseHanging = postgreSQL(
        "registry-postgresql-hangs", "PostgreSQL stands still (SIGSTOP), and its standby is promoted"
    ) { environment in
        try environment.database.pause()
        try await environment.standby.promote()
        try await environment.waitUntilReady()
        try environment.database.resume()
    }.prepared { try await $0.addStandby() }

    /// The database is far away.
    static let databaseSlow = postgreSQL(
        "registry-postgresql-slow",
        "200 ms there and back, with jitter, to PostgreSQL, and then ten seconds with one byte at a time"
    ) { environment in
        try await environment.holdConditions(.distant, .registry, seconds: 10)
        try await environment.holdConditions(.dripping, .registry, seconds: 10)
    }.prepared { try await $0.putProxy(before: .registry) }

    /// Each answer of the database takes two seconds, and a worker is asked to end meanwhile.
    static let databaseLate = postgreSQL(
        "registry-postgresql-late",
        "each answer of PostgreSQL takes 2 s for 20 s: /readyz names the registry, and a worker drains at SIGTERM",
        // Its successor does not start before it can connect; its supervisor tries again.
        mayEndWorkers: true
    ) { environment in
        async let late: Void = environment.holdConditions(
            ProxyConditions(delayMilliseconds: 1_000...1_000), .registry, seconds: 20)
        let worker = environment.drawWorker()
        try await eventually("/readyz to name the registry", within: .seconds(15)) {
            guard let answer = await worker.get("/readyz") else { return false }
            return answer.status == 503 && answer.body.contains("registry")
        }
        let exitCode = try await worker.endBySignal(SIGTERM)
        if exitCode != 0 { environment.report(problem: "a worker that was asked to end ended with \(exitCode)") }
        try await late
    }.prepared { try await $0.putProxy(before: .registry) }

    /// The network to the database cuts and stalls.
    static let databaseCutOff = postgreSQL(
        "registry-postgresql-cut-off",
        "connections to PostgreSQL are reset after a drawn number of bytes, six times, and then silent for 15 s"
    ) { environment in
        for round in 0..<6 {
            let trigger = FaultTrigger(.bytes(ProxyDirection.allCases[round % 2], environment.draw(0...4_000)))
            try await environment.fire(trigger, .registry) { try await $0.resetAll() }
        }
        try await environment.holdConditions(.silent([.toServer, .toClient], .swallowed), .registry, seconds: 15)
    }.prepared { try await $0.putProxy(before: .registry) }

    /// Another program's long transaction, during which a worker is started again.
    static let registryLocked = Scenario(
        name: "registry-locked", domain: .registry,
        sentence: "the SQLite file is locked for 30 s by another process, and one of two workers is killed meanwhile",
        redeliveries: 1
    ) { environment in
        async let locked: Void = environment.lockRegistry(seconds: 30)
        try await Pause.seconds(3)
        let worker = environment.drawWorker()
        worker.signal(SIGKILL)
        try await locked
        try await environment.waitUntilReady()
    }

    private static let failingSeconds = 12.0

    private static func files(_ name: String, _ sentence: String, _ fault: CallFault) -> Scenario {
        Scenario(
            // A worker does not start without its registry; its supervisor tries again.
            name: name, domain: .registry, sentence: sentence, redeliveries: 1, mayEndWorkers: true
        ) { environment in
            async let count = environment.failCalls(seconds: failingSeconds)
            // Its successor knows nothing, so that it has to read and to write.
            environment.drawWorker().signal(SIGKILL)
            let end = Deadline.now() + failingSeconds
            while Deadline.now() < end {
                // Devices that are gone come back, so that there is something to prune.
                let result = try await environment.apus("device", "import", input: environment.importLines())
                if result.exitCode != 0 { environment.report(problem: "devices were not imported: \(result)") }
                try await Pause.seconds(1)
            }
            if try await count == 0 { environment.report(problem: "no call failed") }
            try await environment.waitUntilReady()
            environment.reportCrashes()
        }.prepared { $0.equipWorkers(with: fault) }
    }

    /// Nothing can be written any more.
    static let registryFull = files(
        "registry-disk-full",
        "for 12 s the disk of the SQLite file is full, and one of two workers is killed meanwhile",
        CallFault(.write, on: .file("registry.db"), as: .full, occurrence: 1, times: .max))

    /// The disk is about to die.
    static let registryBroken = files(
        "registry-disk-broken",
        "for 12 s the disk of the SQLite file cannot be read, and one of two workers is killed meanwhile",
        CallFault(.read, on: .file("registry.db"), as: .broken, occurrence: 1, times: .max))
}
