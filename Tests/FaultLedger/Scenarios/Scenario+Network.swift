import PushTestKit

extension Scenario {
    /// How often each moment of a reset is tried.
    private static let rounds = 3

    /// A scenario with a proxy between the workers and something, which strikes at moments.
    private static func resets(
        _ name: String, _ sentence: String, at events: [FaultTrigger.Event], isShort: Bool = false
    ) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence, redeliveries: events.count * rounds, isShort: isShort
        ) { environment in
            for event in events {
                for _ in 0..<rounds {
                    try await environment.fire(FaultTrigger(event, occurrence: environment.draw(1...20)), .broker)
                }
            }
        }.prepared { try await $0.putProxy(before: .broker) }
    }

    /// Connections to the broker end in the middle of a frame, in either direction.
    static let resetMidFrame = resets(
        "network-reset-mid-frame",
        "the connection to RabbitMQ is reset within a publish, an acknowledgement, a delivery and a confirm, three "
            + "times each",
        at: [
            .method(.publish, .within), .method(.acknowledgement, .within), .method(.delivery, .within),
            .method(.confirm, .within),
        ])

    /// The broker has an event, and the worker does not know.
    static let resetBeforeConfirm = resets(
        "network-reset-publish-confirm",
        "the connection to RabbitMQ is reset between a worker's publish and its confirm, six times",
        at: [.method(.publish, .after), .method(.confirm, .before)])

    /// APNs has a push, and the broker does not know.
    static let resetBeforeAcknowledgement = resets(
        "network-reset-push-ack",
        "the connection to RabbitMQ is reset when an acknowledgement is about to pass, three times",
        at: [.method(.acknowledgement, .before)], isShort: true)

    /// Connecting fails at each step of the handshake.
    static let resetHandshake = Scenario(
        name: "network-reset-handshake", domain: .network,
        sentence: "all connections to RabbitMQ are reset, and so is one of those that are made again: as it is made, "
            + "after some bytes, at the login, and as it begins to consume",
        redeliveries: 16
    ) { environment in
        let events: [FaultTrigger.Event] = [
            .connection, .bytes(.toClient, environment.draw(1...400)), .bytes(.toServer, environment.draw(1...400)),
            .method(.login, .within), .method(.opening, .before), .method(.consume, .before),
            .method(.consume, .after),
        ]
        for event in events {
            try await environment.fire(FaultTrigger(event), .broker) { try await $0.resetAll() }
        }
    }.prepared { try await $0.putProxy(before: .broker) }

    /// Connections to APNs end at any byte, the handshake's included.
    static let resetAPNs = Scenario(
        name: "network-reset-apns", domain: .network,
        sentence: "the connections to APNs are reset twelve times, and one of those that are made again after so many "
            + "bytes",
        redeliveries: 24
    ) { environment in
        for round in 0..<12 {
            let direction = ProxyDirection.allCases[round % 2]
            let count = [environment.draw(0...1_500), environment.draw(1_500...20_000)][round / 2 % 2]
            try await environment.fire(FaultTrigger(.bytes(direction, count)), .service(.apns)) {
                try await $0.resetAll()
            }
        }
    }.prepared { try await $0.putProxy(before: .service(.apns)) }

    /// So soon both sides notice that a connection to the broker is silent: at two intervals without a byte.
    private static let heartbeat = "heartbeat = 2"
    private static let silenceSeconds = 15.0

    private static func silence(
        _ name: String, _ sentence: String, _ directions: [ProxyDirection], before target: Environment.ProxyTarget,
        _ silence: ProxySilence = .swallowed
    ) -> Scenario {
        let setting =
            target == .broker
            ? Setting(isBrokerPrivate: true, brokerConfiguration: heartbeat)
            : Setting(workerConfiguration: "[worker]\npush_timeout = \"2s\"")
        return Scenario(
            name: name, domain: .network, sentence: sentence, setting: setting,
            redeliveries: target == .broker ? 8 : 12
        ) { environment in
            try await environment.holdConditions(.silent(directions, silence), target, seconds: silenceSeconds)
        }.prepared { try await $0.putProxy(before: target) }
    }

    /// The worker hears the broker, and the broker does not hear the worker.
    static let silenceToBroker = silence(
        "network-silence-to-broker", "for 15 s nothing that the workers send arrives at RabbitMQ", [.toServer],
        before: .broker)

    /// The broker hears the worker, and the worker does not hear the broker.
    static let silenceFromBroker = silence(
        "network-silence-from-broker", "for 15 s nothing that RabbitMQ sends arrives at the workers", [.toClient],
        before: .broker)

    /// No byte arrives, in either direction.
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
    ) { environment in
        for marker in [AMQPMarker.acknowledgement, .confirm] {
            let trigger = FaultTrigger(
                .method(marker, .before), occurrence: environment.draw(1...10),
                strike: .silence([.toServer, .toClient]))
            try await environment.fire(trigger, .broker)
            // Until it is noticed.
            try await Pause.seconds(8)
        }
        try await environment.waitUntilReady()
    }.prepared { try await $0.putProxy(before: .broker) }

    /// APNs gets no push.
    static let silenceToAPNs = silence(
        "network-silence-to-apns", "for 15 s nothing that the workers send arrives at APNs", [.toServer],
        before: .service(.apns))

    /// APNs gets every push, and its answers are lost.
    static let silenceFromAPNs = silence(
        "network-silence-from-apns", "for 15 s no answer of APNs arrives at the workers", [.toClient],
        before: .service(.apns))

    /// Bytes pass, but badly: nothing is lost, and without silence nothing comes twice.
    private static func underConditions(
        _ name: String, _ sentence: String, _ conditions: ProxyConditions, _ targets: [Environment.ProxyTarget],
        setting: Setting = Setting(), seconds: Double, redeliveries: Int = 0
    ) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence, setting: setting, redeliveries: redeliveries
        ) { environment in
            for target in targets { try await environment.proxy(target).setConditions(conditions) }
            try await Pause.seconds(seconds)
            for target in targets { try await environment.proxy(target).setConditions(.calm) }
            try await environment.waitUntilReady()
        }.prepared { environment in for target in targets { try await environment.putProxy(before: target) } }
    }

    /// A broker and an APNs at the other end of the world.
    static let latency = underConditions(
        "network-latency", "200 ms there and back, with jitter, to RabbitMQ and to APNs", .distant,
        [.broker, .service(.apns)], seconds: 8)

    /// The worst that can happen to a parser.
    static let drippingBroker = underConditions(
        "network-one-byte-broker", "one byte at a time between the workers and RabbitMQ, both ways", .dripping,
        [.broker], seconds: 6)

    /// The same for TLS and HTTP/2.
    ///
    /// On a busy machine an answer may drip for longer than a push waits for it; then it is pushed once more.
    static let drippingAPNs = underConditions(
        "network-one-byte-apns", "one byte at a time between the workers and APNs, both ways", .dripping,
        [.service(.apns)], seconds: 6, redeliveries: 1)

    // MARK: FCM and browsers' services

    private static let otherServices = [ServiceKind.fcm, .webpush]
    private static let otherTargets = otherServices.map { Environment.ProxyTarget.service($0) }

    /// Connections to FCM and to browsers' services end at any byte.
    static let resetServices = Scenario(
        name: "network-reset-services", domain: .network,
        sentence: "the connections to FCM and to browsers' services are reset eight times, and one of those that are "
            + "made again after so many bytes",
        setting: Setting(services: otherServices), redeliveries: 16
    ) { environment in
        for round in 0..<8 {
            let direction = ProxyDirection.allCases[round / 2 % 2]
            let count = [environment.draw(0...1_500), environment.draw(1_500...10_000)][round / 4 % 2]
            try await environment.fire(FaultTrigger(.bytes(direction, count)), otherTargets[round % 2]) {
                try await $0.resetAll()
            }
        }
    }.prepared { for target in otherTargets { try await $0.putProxy(before: target) } }

    private static func silenceOfServices(_ name: String, _ sentence: String, _ direction: ProxyDirection) -> Scenario {
        underConditions(
            name, sentence, .silent([direction], .swallowed), otherTargets,
            setting: Setting(services: otherServices, workerConfiguration: "[worker]\npush_timeout = \"2s\""),
            seconds: serviceFaultSeconds, redeliveries: 12)
    }

    /// FCM and browsers' services get no push.
    static let silenceToServices = silenceOfServices(
        "network-silence-to-services",
        "for 8 s nothing that the workers send arrives at FCM and at browsers' services", .toServer)

    /// They get every push, and their answers are lost.
    static let silenceFromServices = silenceOfServices(
        "network-silence-from-services", "for 8 s no answer of FCM and of browsers' services arrives at the workers",
        .toClient)

    /// They are at the other end of the world.
    static let latencyOfServices = underConditions(
        "network-latency-services", "200 ms there and back, with jitter, to FCM and to browsers' services", .distant,
        otherTargets, setting: Setting(services: otherServices), seconds: 6)

    /// The worst that can happen to a parser, also to that of an HTTP proxy's answers.
    static let drippingServices = underConditions(
        "network-one-byte-services",
        "one byte at a time between the workers and FCM and browsers' services, both ways", .dripping, otherTargets,
        setting: Setting(services: otherServices), seconds: 6, redeliveries: 1)

    /// Less than the load needs.
    static let narrow = underConditions(
        "network-narrow", "20 kB/s for each connection between the workers and RabbitMQ, which the load exceeds",
        ProxyConditions(bytesPerSecondMaximum: 20_000), [.broker], seconds: 6)
}
