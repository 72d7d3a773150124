import Glibc
import PushTestKit

/// Scenarios in which the load is committed to an outbox, and two relays move it.
///
/// What a relay held comes again when it is killed, or when PostgreSQL ends its transactions after RabbitMQ's confirms.
extension Scenario {
    private static func outbox(
        _ name: String, _ sentence: String, setting: Setting = Setting(), redeliveries: Int,
        strike: @escaping @Sendable (Environment) async throws -> Void
    ) -> Scenario {
        var setting = setting
        setting.relays = 2
        return Scenario(
            name: name, domain: .outbox, sentence: sentence, setting: setting, redeliveries: redeliveries,
            strike: strike)
    }

    /// Slows what passes between relays and RabbitMQ, so that a fault nearly always meets rows that are under way.
    private static func holdUpConfirms(_ environment: Environment) async throws {
        try await environment.putProxy(before: .brokerOfRelays)
        try await environment.proxy(.brokerOfRelays).setConditions(ProxyConditions(delayMilliseconds: 50...150))
    }

    private static let killCount = 4

    /// Relays die one after the other, and are started again.
    static let outboxRelayKilled = outbox(
        "outbox-relay-killed", "SIGKILL to one of two relays of an outbox after the other, four times in all",
        redeliveries: killCount
    ) { environment in
        for number in 0..<killCount {
            let relay = environment.relays[number % environment.relays.count]
            try await Pause.seconds(environment.draw(0.2...1))
            try await relay.endBySignal(SIGKILL)
            try await relay.waitUntilReady()
        }
    }.prepared(holdUpConfirms)

    /// What a relay publishes again is pushed once.
    ///
    /// With one worker no two have a copy each at the same moment.
    static let outboxPushedOnce = outbox(
        "outbox-pushed-once", "SIGKILL to one of two relays after the other, beside one worker: nothing comes twice",
        setting: Setting(workers: 1), redeliveries: 0, strike: outboxRelayKilled.strike
    ).prepared(holdUpConfirms)

    /// The backend's database dies as by a power failure, and comes back.
    static let outboxDatabaseKilled = outbox(
        "outbox-postgresql-killed", "the PostgreSQL of an outbox is killed, and started again after 3 s",
        redeliveries: 2
    ) { environment in
        let server = try environment.outbox.server
        try server.kill()
        try await Pause.seconds(3)
        try await server.startAgain()
        try await environment.waitUntilReady()
    }.prepared(holdUpConfirms)

    /// The broker dies while relays publish, and rows wait in their table meanwhile.
    static let outboxBrokerKilled = outbox(
        "outbox-broker-killed", "SIGKILL to the only RabbitMQ node while relays publish, which is started again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 6
    ) { environment in
        let broker = try environment.broker
        try await broker.writeOutMetadata()
        try broker.kill()
        try await waitForRows(in: environment)
        try await broker.startAgain()
        try await environment.waitUntilReady()
    }

    /// The broker takes no publishes, for longer than a relay holds rows.
    static let outboxMemoryAlarm = outbox(
        "outbox-memory-alarm", "a memory alarm blocks the relays of an outbox for longer than they hold rows",
        setting: Setting(isBrokerPrivate: true, loadSeconds: 16, blocksOutcomes: true), redeliveries: 4
    ) { environment in
        let broker = try environment.broker
        try await broker.control("set_vm_memory_high_watermark", "0")
        try await waitForRows(in: environment)
        try await Pause.seconds(environment.draw(11...13))
        try await broker.control("set_vm_memory_high_watermark", "0.4")
        try await environment.waitUntilReady()
    }

    /// Nothing passes between the relays and the broker, and no connection ends.
    static let outboxSilence = outbox(
        "outbox-silence", "for 15 s nothing passes between the relays of an outbox and RabbitMQ",
        setting: Setting(isBrokerPrivate: true, brokerConfiguration: "heartbeat = 2", loadSeconds: 16),
        redeliveries: 4
    ) { environment in
        try await environment.holdConditions(
            .silent([.toServer, .toClient], .swallowed), .brokerOfRelays, seconds: 15)
    }.prepared { try await $0.putProxy(before: .brokerOfRelays) }

    private static let terminationCount = 5

    /// The database ends the sessions of both relays, wherever they are in their work.
    static let outboxSessionsTerminated = outbox(
        "outbox-sessions-terminated", "pg_terminate_backend ends all sessions of two relays, five times",
        redeliveries: 2 * terminationCount
    ) { environment in
        for _ in 0..<terminationCount {
            try await Pause.seconds(environment.draw(0.1...0.9))
            try await environment.outbox.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'apus' AND datname = current_database()
                """)
        }
        try await environment.waitUntilReady()
    }.prepared(holdUpConfirms)

    /// Waits until the table is the buffer.
    private static func waitForRows(in environment: Environment) async throws {
        try await eventually("rows to wait in the outbox", within: .seconds(60)) {
            try await environment.rowCount()
        } until: {
            $0 > 300
        }
    }
}
