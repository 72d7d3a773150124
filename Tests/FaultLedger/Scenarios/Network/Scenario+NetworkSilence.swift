import PushTestKit

extension Scenario {
    /// So soon both sides notice that a connection to the broker is silent: at two intervals without a byte.
    private static let heartbeat = "heartbeat = 2"
    private static let silenceSeconds = 15.0

    private static func brokerSilence(_ name: String, _ sentence: String, _ directions: [ProxyDirection]) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence,
            setting: Setting(isBrokerPrivate: true, brokerConfiguration: heartbeat), redeliveries: 8
        ) { stage in
            try await stage.weather(.silent(directions, .swallowed), .broker, seconds: silenceSeconds)
        }.prepared { try await $0.putProxy(before: .broker) }
    }

    /// The worker hears the broker, and the broker does not hear the worker.
    static let silenceToBroker = brokerSilence(
        "network-silence-to-broker", "for 15 s nothing that the workers send arrives at RabbitMQ", [.toServer])

    /// The broker hears the worker, and the worker does not hear the broker.
    static let silenceFromBroker = brokerSilence(
        "network-silence-from-broker", "for 15 s nothing that RabbitMQ sends arrives at the workers", [.toClient])

    /// Nobody hears anybody.
    static let silenceBroker = brokerSilence(
        "network-silence-both", "for 15 s nothing passes between the workers and RabbitMQ", [.toServer, .toClient])

    /// Everything stands still, and then goes on as if nothing had been.
    static let pauseBroker = Scenario(
        name: "network-pause", domain: .network,
        sentence: "for 15 s what passes between the workers and RabbitMQ is held up, and then it arrives",
        setting: Setting(isBrokerPrivate: true, brokerConfiguration: heartbeat), redeliveries: 8
    ) { stage in
        try await stage.weather(.silent([.toServer, .toClient], .held), .broker, seconds: silenceSeconds)
    }.prepared { try await $0.putProxy(before: .broker) }

    /// One connection falls silent at a moment that matters, and the rest of the network is well.
    static let silenceAtMoment = Scenario(
        name: "network-silence-push-ack", domain: .network,
        sentence: "a connection to RabbitMQ falls silent in both directions when an acknowledgement, and then when a "
            + "confirm, is about to pass",
        setting: Setting(isBrokerPrivate: true, brokerConfiguration: heartbeat), redeliveries: 4
    ) { stage in
        for landmark in [AMQPLandmark.acknowledgement, .confirm] {
            let trap = ProxyTrap(
                .method(landmark, .before), occurrence: stage.draw(1...10), strike: .silence([.toServer, .toClient]))
            try await stage.spring(trap, .broker)
            // Until it is noticed.
            try await Pause.seconds(8)
        }
        try await stage.waitUntilReady()
    }.prepared { try await $0.putProxy(before: .broker) }

    private static func apnsSilence(_ name: String, _ sentence: String, _ directions: [ProxyDirection]) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence,
            setting: Setting(workerConfiguration: "[worker]\npush_timeout = \"2s\""), redeliveries: 12
        ) { stage in
            try await stage.weather(.silent(directions, .swallowed), .apns, seconds: silenceSeconds)
        }.prepared { try await $0.putProxy(before: .apns) }
    }

    /// APNs gets no push.
    static let silenceToAPNs = apnsSilence(
        "network-silence-to-apns", "for 15 s nothing that the workers send arrives at APNs", [.toServer])

    /// APNs gets every push, and nobody gets its answers.
    static let silenceFromAPNs = apnsSilence(
        "network-silence-from-apns", "for 15 s no answer of APNs arrives at the workers", [.toClient])
}
