import PushTestKit

extension Scenario {
    /// One of the five simulated services is in trouble, and its browsers alone have to wait.
    private static func trouble(_ name: String, _ sentence: String, at origin: String, _ faults: [String]) -> Scenario {
        Scenario(
            name: "webpush-\(name)", domain: .webpush, sentence: "Web Push: \(sentence)",
            setting: Setting(services: [.webpush], workerConfiguration: shortPushTimeout, eventsPerSecond: 100),
            redeliveries: 16
        ) { environment in
            for fault in faults { try environment.service(.webpush).control(fault) }
            try await environment.requirePushes("browsers of the other services") { population, device in
                population.browser(of: device)?.origin != origin
            }
            try environment.endFaults(of: .webpush)
            try await environment.waitUntilReady()
        }.impatient()
    }

    /// One service does not believe the key, which the others do.
    static let webPushOriginRefusesKey = trouble(
        "origin-refuses-key", "one service refuses the key, and the browsers of the others are told meanwhile",
        at: "mozilla", [refusal("VAPID_TOKEN_INVALID", 1, more: #","origin":"mozilla""#)])

    /// One service cannot be reached.
    static let webPushOriginDead = trouble(
        "origin-dead", "one service resets every connection, and the browsers of the others are told meanwhile",
        at: "apple",
        [
            #"{"fault":"tcp-reset","origin":"apple"}"#, #"{"fault":"goaway","origin":"apple","last":"none"}"#,
        ])

    /// The first answers after the start are those of a service that accepts nothing and does not end its answers.
    static let webPushHostileFirstOrigin = Scenario(
        name: "webpush-hostile-first-origin", domain: .webpush,
        sentence: "Web Push: from the start, one service refuses the key with an answer that does not end, before any "
            + "other service has answered, and the browsers of the others are told",
        setting: Setting(services: [.webpush], eventsPerSecond: 100, strikeShare: 0...0.001), redeliveries: 0
    ) { environment in
        try await environment.requirePushes("browsers of the other services") { population, device in
            population.browser(of: device)?.origin != hostileOrigin
        }
        try environment.endFaults(of: .webpush)
        try await environment.waitUntilReady()
    }.prepared { environment in
        let service = try environment.service(.webpush)
        try service.control(#"{"fault":"endless-answer","status":403,"origin":"\#(hostileOrigin)"}"#)
        for origin in Browser.origins where origin != hostileOrigin {
            try service.control(#"{"fault":"delay","ms":2000,"origin":"\#(origin)"}"#)
        }
    }

    private static let hostileOrigin = "plain"
}
