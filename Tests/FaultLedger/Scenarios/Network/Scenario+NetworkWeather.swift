import PushTestKit

extension Scenario {
    /// Bytes pass, but badly: nothing is lost, and nothing comes twice.
    private static func weather(
        _ name: String, _ sentence: String, _ weather: ProxyWeather, _ places: [Stage.ProxyPlace],
        setting: Setting = Setting(), seconds: Double
    ) -> Scenario {
        Scenario(
            name: name, domain: .network, sentence: sentence, setting: setting, redeliveries: 0
        ) { stage in
            for place in places { try await stage.proxy(place).setWeather(weather) }
            try await Pause.seconds(seconds)
            for place in places { try await stage.proxy(place).setWeather(.calm) }
            try await stage.waitUntilReady()
        }.prepared { stage in for place in places { try await stage.putProxy(before: place) } }
    }

    /// A broker and an APNs at the other end of the world.
    static let latency = weather(
        "network-latency", "200 ms there and back, with jitter, to RabbitMQ and to APNs", .distant, [.broker, .apns],
        seconds: 8)

    /// The worst that can happen to a parser.
    static let drippingBroker = weather(
        "network-one-byte-broker", "one byte at a time between the workers and RabbitMQ, both ways", .dripping,
        [.broker], seconds: 6)

    /// The same for TLS and HTTP/2.
    static let drippingAPNs = weather(
        "network-one-byte-apns", "one byte at a time between the workers and APNs, both ways", .dripping, [.apns],
        seconds: 6)

    /// Less than the load needs.
    static let narrow = weather(
        "network-narrow", "20 kB/s for each connection between the workers and RabbitMQ, which the load exceeds",
        ProxyWeather(bytesPerSecondMaximum: 20_000), [.broker], seconds: 6)
}
