import PushTestKit

extension Scenario {
    /// The broker stands still with all connections open, for longer than anybody's patience.
    static let brokerStop = Scenario(
        name: "broker-stop", domain: .broker, sentence: "SIGSTOP to the only RabbitMQ node for 60 s",
        setting: Setting(isBrokerPrivate: true, brokerConfiguration: "heartbeat = 10"), redeliveries: 2
    ) { stage in
        let broker = try stage.broker
        broker.pause()
        try await Pause.seconds(stage.options.isShort ? 25 : 60)
        broker.resume()
        try await stage.waitUntilReady()
    }
}
