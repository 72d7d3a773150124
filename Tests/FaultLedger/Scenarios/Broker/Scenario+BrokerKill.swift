import PushTestKit

extension Scenario {
    /// The broker dies as by a power failure, and comes back on the same data.
    static let brokerKill = Scenario(
        name: "broker-kill", domain: .broker, sentence: "SIGKILL to the only RabbitMQ node, which is started again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { stage in
        let broker = try stage.broker
        try await broker.writeOutQueues()
        try broker.kill()
        try await broker.startAgain()
        try await stage.waitUntilReady()
    }

    /// The broker is taken down in order, as for an update, and comes back.
    static let brokerRestart = Scenario(
        name: "broker-restart", domain: .broker, sentence: "the only RabbitMQ node stops in order, and starts again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { stage in
        let broker = try stage.broker
        try await broker.control("stop_app")
        try await Pause.seconds(stage.draw(0...3))
        try await broker.control("start_app")
        try await stage.waitUntilReady()
    }
}
