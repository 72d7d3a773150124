import PushTestKit

extension Scenario {
    /// A delivery that is held for longer than this comes again, in seconds.
    private static let patienceSeconds = 5

    /// Lets a push service misbehave for longer than the broker waits for an acknowledgement.
    ///
    /// Unsettled deliveries may come again when the broker's patience ends, three times for each of two workers. They
    /// may also come again when a push is given up for want of an answer, five times for each.
    static func misbehaviour(
        of service: ServiceKind, _ name: String, _ sentence: String, _ faults: [String], seconds: Double,
        redeliveries: Int = 16, removedDevicesMaximum: Int = 0, soundDeadLettersMaximum: Int = 0
    ) -> Scenario {
        Scenario(
            name: name, domain: service.domain, sentence: sentence,
            setting: Setting(
                services: [service], workerConfiguration: shortPushTimeout,
                removedDevicesMaximum: removedDevicesMaximum, soundDeadLettersMaximum: soundDeadLettersMaximum),
            redeliveries: redeliveries
        ) { environment in
            let staged = try environment.service(service)
            let count = try await staged.faultCount()
            try staged.behave(but: faults)
            try await Pause.seconds(seconds)
            let struckCount = try await staged.faultCount() - count
            environment.say("\(struckCount) faults")
            if struckCount == 0 { environment.report(problem: "no fault happened") }
            try environment.endFaults(of: service)
            try await environment.waitUntilReady()
        }.impatient()
    }

    /// A worker gives a push up after three seconds.
    static let shortPushTimeout = "[worker]\npush_timeout = \"3s\""

    /// The same with a broker that waits for acknowledgements for some seconds only.
    ///
    /// The broker reads its patience when a channel is opened, so it is set before the workers connect.
    func impatient() -> Scenario {
        prepared { environment in
            let broker = try environment.broker
            try await broker.evaluate(Self.patience(seconds: Self.patienceSeconds, tickSeconds: 1))
            environment.atEnd { _ = try? await broker.evaluate(Self.patience(seconds: 1_800, tickSeconds: 60)) }
        }
    }

    private static func patience(seconds: Int, tickSeconds: Int) -> String {
        "[application:set_env(rabbit, Key, Value) || {Key, Value} <- [{consumer_timeout, \(seconds)000}, "
            + "{channel_tick_interval, \(tickSeconds)000}]], ok."
    }
}

extension ServiceKind {
    /// The domain of its faults.
    var domain: Scenario.Domain {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        case .webpush: .webpush
        }
    }
}
