import PushTestKit

extension Scenario {
    /// So soon both sides notice that a connection to the broker is silent: at two intervals without a byte.
    private static let heartbeat = "heartbeat = 2"
    private static let silenceSeconds = 15.0

    private static func silence(
        _ name: String, _ sentence: String, _ directions: [ProxyDirection], before place: Stage.ProxyPlace,
        _ silence: ProxySilence = .swallowed
    ) -> Scenario {
        let setting =
            place == .broker
            ? Setting(isBrokerPrivate: true, brokerConfiguration: heartbeat)
            : Setting(workerConfiguration: "[worker]\npush_timeout = \"2s\"")
        return Scenario(
            name: name, domain: .network, sentence: sentence, setting: setting,
            redeliveries: place == .broker ? 8 : 12
        ) { stage in
            try await stage.weather(.silent(directions, silence), place, seconds: silenceSeconds)
        }.prepared { try await $0.putProxy(before: place) }
    }

    /// The worker hears the broker, and the broker does not hear the worker.
    static let silenceToBroker = silence(
        "network-silence-to-broker", "for 15 s nothing that the workers send arrives at RabbitMQ", [.toServer],
        before: .broker)

    /// The broker hears the worker, and the worker does not hear the broker.
    static let silenceFromBroker = silence(
        "network-silence-from-broker", "for 15 s nothing that RabbitMQ sends arrives at the workers", [.toClient],
        before: .broker)

    /// Nobody hears anybody.
    static let silenceBroker = silence(
        "network-silence-both", "for 15 s nothing passes between the workers and RabbitMQ", [.toServer, .toClient],
        before: .broker)

    /// Everything stands still, and then goes on as if nothing had been.
    static let pauseBroker = silence(
        "network-pause", "for 15 s what passes between the workers and RabbitMQ is held up, and then it arrives",
        [.toServer, .toClient], before: .broker, .held)

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

    /// APNs gets no push.
    static let silenceToAPNs = silence(
        "network-silence-to-apns", "for 15 s nothing that the workers send arrives at APNs", [.toServer], before: .apns)

    /// APNs gets every push, and nobody gets its answers.
    static let silenceFromAPNs = silence(
        "network-silence-from-apns", "for 15 s no answer of APNs arrives at the workers", [.toClient], before: .apns)
}
