import PushTestKit

extension Scenario {
    private static let timeoutMilliseconds = 2_000

    /// The broker loses patience with deliveries that are not acknowledged, because APNs is slow.
    ///
    /// It closes the channel, takes back everything, and hands it out again; what is in flight by then is repeated.
    static let brokerConsumerTimeout = Scenario(
        name: "broker-consumer-timeout", domain: .broker,
        sentence: "consumer_timeout is 2 s, and APNs takes 4 s for one push of twenty",
        setting: Setting(isBrokerPrivate: true), redeliveries: 16,
        prepare: lowerTimeout
    ) { stage in
        try await stage.simulator.control(#"{"fault":"delay","ms":4000,"probability":0.05}"#)
        for worker in stage.workers { try await worker.waitForLog("amqp.consumer.interrupted") }
        try await Pause.seconds(stage.draw(3...5))
        try await stage.endFaultsOfAPNs()
        try await stage.waitUntilReady()
    }

    /// Read by each channel when it opens; the tick is what looks at it, once a minute by default.
    private static func lowerTimeout(_ stage: Stage) async throws {
        for (name, value) in [("consumer_timeout", timeoutMilliseconds), ("channel_tick_interval", 500)] {
            try await stage.broker.evaluate("application:set_env(rabbit, \(name), \(value)), ok.")
        }
    }
}
