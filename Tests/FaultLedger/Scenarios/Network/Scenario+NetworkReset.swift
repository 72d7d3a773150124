import PushTestKit

extension Scenario {
    /// How often each moment of a reset is tried.
    private static let rounds = 3

    /// A scenario with a proxy between the workers and something, which strikes at moments.
    private static func resets(
        _ name: String, _ sentence: String, at triggers: [ProxyTrap.Trigger], isShort: Bool = false
    ) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence, redeliveries: triggers.count * rounds, isShort: isShort
        ) { stage in
            for trigger in triggers {
                for _ in 0..<rounds {
                    try await stage.spring(ProxyTrap(trigger, occurrence: stage.draw(1...20)), .broker)
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
    ) { stage in
        let triggers: [ProxyTrap.Trigger] = [
            .connection, .bytes(.toClient, stage.draw(1...400)), .bytes(.toServer, stage.draw(1...400)),
            .method(.login, .within), .method(.opening, .before), .method(.consume, .before),
            .method(.consume, .after),
        ]
        for trigger in triggers {
            try await stage.spring(ProxyTrap(trigger), .broker) { try await $0.resetAll() }
        }
    }.prepared { try await $0.putProxy(before: .broker) }

    /// Connections to APNs end at any byte, the handshake's included.
    static let resetAPNs = Scenario(
        name: "network-reset-apns", domain: .network,
        sentence: "the connections to APNs are reset twelve times, and one of those that are made again after so many "
            + "bytes",
        redeliveries: 24
    ) { stage in
        for round in 0..<12 {
            let direction = ProxyDirection.allCases[round % 2]
            let count = [stage.draw(0...1_500), stage.draw(1_500...20_000)][round / 2 % 2]
            try await stage.spring(ProxyTrap(.bytes(direction, count)), .apns) { try await $0.resetAll() }
        }
    }.prepared { try await $0.putProxy(before: .apns) }
}
