import Glibc
import PushTestKit

extension Scenario {
    /// The broker dies as by a power failure, and comes back on the same data.
    static let brokerKill = Scenario(
        name: "broker-kill", domain: .broker, sentence: "SIGKILL to the only RabbitMQ node, which is started again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { environment in
        let broker = try environment.broker
        try await broker.writeOutMetadata()
        try broker.kill()
        try await broker.startAgain()
        try await environment.waitUntilReady()
    }

    /// The broker is taken down in order, as for an update, and comes back.
    static let brokerRestart = Scenario(
        name: "broker-restart", domain: .broker, sentence: "the only RabbitMQ node stops in order, and starts again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { environment in
        let broker = try environment.broker
        try await broker.control("stop_app")
        try await Pause.seconds(environment.draw(0...3))
        try await broker.control("start_app")
        try await environment.waitUntilReady()
    }

    /// The broker stands still with all connections open, for longer than every timeout.
    static let brokerStop = Scenario(
        name: "broker-stop", domain: .broker, sentence: "SIGSTOP to the only RabbitMQ node for 60 s",
        setting: Setting(isBrokerPrivate: true, brokerConfiguration: "heartbeat = 10"), redeliveries: 2
    ) { environment in
        let broker = try environment.broker
        broker.pause()
        try await Pause.seconds(environment.options.isShort ? 25 : 60)
        broker.resume()
        try await environment.waitUntilReady()
    }

    private static let timeoutMilliseconds = 2_000

    /// The broker loses patience with deliveries that are not acknowledged, because APNs is slow.
    ///
    /// It closes the channel, takes back everything, and hands it out again; what is in flight by then is repeated.
    static let brokerConsumerTimeout = Scenario(
        name: "broker-consumer-timeout", domain: .broker,
        sentence: "consumer_timeout is 2 s, and APNs takes 4 s for one push of twenty",
        setting: Setting(isBrokerPrivate: true), redeliveries: 16,
        prepare: lowerTimeout
    ) { environment in
        try environment.service(.apns).control(#"{"fault":"delay","ms":4000,"probability":0.05}"#)
        for worker in environment.workers { try await worker.waitForLog("amqp.consumer.interrupted") }
        try await Pause.seconds(environment.draw(3...5))
        try environment.endFaults(of: .apns)
        try await environment.waitUntilReady()
    }

    /// Read by each channel when it opens; the tick is what looks at it, once a minute by default.
    private static func lowerTimeout(_ environment: Environment) async throws {
        for (name, value) in [("consumer_timeout", timeoutMilliseconds), ("channel_tick_interval", 500)] {
            try await environment.broker.evaluate("application:set_env(rabbit, \(name), \(value)), ok.")
        }
    }

    private static let user = "worker"

    /// The workers may no longer use their queues, and then again.
    static let brokerPermissionRevoked = Scenario(
        name: "broker-permission-revoked", domain: .broker,
        sentence: "the workers' user loses its permissions and its connections, and gets the permissions again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2, prepare: makeUser
    ) { environment in
        let broker = try environment.broker
        try await broker.control("clear_permissions", user)
        try await broker.control("close_all_user_connections", user, "revoked")
        try await Pause.seconds(environment.draw(3...5))
        try await broker.control("set_permissions", user, ".*", ".*", ".*")
        try await environment.waitUntilReady()
    }

    /// The workers' password is changed; an operator writes the new one into the configuration and restarts them.
    static let brokerPasswordChanged = Scenario(
        name: "broker-password-changed", domain: .broker,
        sentence:
            "the workers' password is changed and their connections are closed; they get the new one and restart",
        setting: Setting(isBrokerPrivate: true), redeliveries: 4, prepare: makeUser
    ) { environment in
        let broker = try environment.broker
        try await broker.control("change_password", user, "another")
        try await broker.control("close_all_user_connections", user, "changed")
        try await Pause.seconds(environment.draw(2...4))
        environment.addresses.brokerURLs = ["amqp://\(user):another@127.0.0.1:\(broker.port)/"]
        try environment.writeConfiguration()
        for worker in environment.workers { try await worker.endBySignal(SIGTERM) }
        try await environment.waitUntilReady()
    }

    private static func makeUser(_ environment: Environment) async throws {
        let broker = try environment.broker
        try await broker.control("add_user", user, "secret")
        try await broker.control("set_permissions", user, ".*", ".*", ".*")
        environment.addresses.brokerURLs = ["amqp://\(user):secret@127.0.0.1:\(broker.port)/"]
    }

    /// How many messages make a backlog before the alarm.
    private static let backlogCount = 400

    /// The broker has no memory left: it takes no publishes, and acknowledgements have to go on.
    static let brokerMemoryAlarm = Scenario(
        name: "broker-memory-alarm", domain: .broker,
        sentence: "a memory alarm blocks publishing while a backlog is worked off, which has to go on",
        setting: Setting(isBrokerPrivate: true, blocksOutcomes: true), redeliveries: 0
    ) { environment in
        try await workOffBacklog(
            environment, raise: ["set_vm_memory_high_watermark", "0"], clear: ["set_vm_memory_high_watermark", "0.4"])
    }

    /// The same for the disk.
    static let brokerDiskAlarm = Scenario(
        name: "broker-disk-alarm", domain: .broker,
        sentence: "a disk alarm blocks publishing while a backlog is worked off, which has to go on",
        setting: Setting(isBrokerPrivate: true, blocksOutcomes: true), redeliveries: 0
    ) { environment in
        try await workOffBacklog(
            environment, raise: ["set_disk_free_limit", "900000GB"], clear: ["set_disk_free_limit", "10MB"])
    }

    private static func workOffBacklog(_ environment: Environment, raise: [String], clear: [String]) async throws {
        for worker in environment.workers { worker.signal(SIGSTOP) }
        try await environment.waitForConfirms(backlogCount)
        let broker = try environment.broker
        try await broker.control(raise)
        guard try await environment.publisher.load.wait(deadlineSeconds: 30, until: { $0.isBlocked }) else {
            throw EnvironmentFailure("the alarm did not block the publisher")
        }
        let backlog = try await environment.waitingCount()
        for worker in environment.workers { worker.signal(SIGCONT) }
        // About one event in twenty, which APNs answered with 503, waits for the publisher; everything else can be
        // acknowledged.
        try await eventually(
            "the backlog of \(backlog) to shrink to a fifth while publishing is blocked", within: .seconds(60)
        ) {
            try await environment.waitingCount()
        } until: {
            $0 <= backlog / 5
        }
        try await Pause.seconds(environment.draw(1...3))
        try await broker.control(clear)
        try await environment.waitUntilReady()
    }
}
