extension Scenario {
    private static let faultSeconds = 12.0

    private static func apns(
        _ name: String, _ sentence: String, _ faults: [String], redeliveries: Int = 16, removedDevicesMaximum: Int = 0,
        soundDeadLettersMaximum: Int = 0
    ) -> Scenario {
        misbehaviour(
            of: .apns, name, sentence, faults, seconds: faultSeconds, redeliveries: redeliveries,
            removedDevicesMaximum: removedDevicesMaximum, soundDeadLettersMaximum: soundDeadLettersMaximum)
    }

    /// Each fault of the simulator for itself, and all mixed.
    static let allAPNs: [Scenario] = [
        apns(
            "apns-goaway", "GOAWAY, after which all streams are still answered",
            [#"{"fault":"goaway","probability":0.02}"#]),
        apns(
            "apns-goaway-previous", "GOAWAY for a shutdown, with one stream that was not processed",
            [#"{"fault":"goaway","probability":0.02,"last":"previous","reason":"Shutdown"}"#]),
        apns(
            "apns-goaway-none", "GOAWAY with no stream processed",
            [#"{"fault":"goaway","probability":0.02,"last":"none"}"#]),
        apns(
            "apns-refused-stream", "every fifth stream is refused",
            [#"{"fault":"reset-stream","probability":0.2,"error":7}"#]),
        apns(
            "apns-reset-stream", "every fifth stream is reset with INTERNAL_ERROR",
            [#"{"fault":"reset-stream","probability":0.2,"error":2}"#]),
        apns(
            "apns-stream-limit", "one stream at a time, again and again",
            [#"{"fault":"stream-limit","probability":0.02,"streams":1,"back_ms":1500}"#]),
        apns("apns-no-streams", "no stream at all for 8 s", [#"{"fault":"stream-limit","streams":0,"back_ms":8000}"#]),
        apns(
            "apns-wedge", "connections that call every provider token expired",
            [#"{"fault":"wedge","probability":0.01}"#]),
        apns(
            "apns-throttled", "every second push is answered 429",
            [#"{"fault":"answer","probability":0.5,"status":429,"reason":"TooManyRequests","retry_after":1}"#]),
        apns(
            "apns-unavailable", "every push is answered 503",
            [
                #"{"fault":"answer","status":503,"reason":"ServiceUnavailable"}"#
            ]),
        apns(
            "apns-internal-error", "every second push is answered 500, with a page of HTML and 9 000 bytes of headers",
            [#"{"fault":"answer","probability":0.5,"status":500,"body":"<html>","header_bytes":9000}"#]),
        apns(
            "apns-shutdown", "every third push is answered 503 Shutdown",
            [#"{"fault":"answer","probability":0.3,"status":503,"reason":"Shutdown"}"#]),
        apns(
            "apns-token-updates", "every second push is answered 429 TooManyProviderTokenUpdates",
            [#"{"fault":"answer","probability":0.5,"status":429,"reason":"TooManyProviderTokenUpdates"}"#]),
        apns(
            "apns-wrong-key", "every push is answered 403 InvalidProviderToken",
            [#"{"fault":"answer","status":403,"reason":"InvalidProviderToken"}"#]),
        apns(
            "apns-tokens-in-doubt", "every push is answered 400 BadDeviceToken, as if the environment were wrong",
            [#"{"fault":"answer","status":400,"reason":"BadDeviceToken"}"#]),
        apns(
            "apns-bad-token", "one push of a hundred is answered 400 BadDeviceToken",
            [#"{"fault":"answer","probability":0.01,"status":400,"reason":"BadDeviceToken"}"#],
            removedDevicesMaximum: .max),
        apns(
            "apns-unregistered", "one push of a hundred is answered 410 Unregistered",
            [#"{"fault":"answer","probability":0.01,"status":410,"reason":"Unregistered","timestamp":1700000000000}"#],
            removedDevicesMaximum: .max),
        apns(
            "apns-too-large", "every tenth push is answered 413 PayloadTooLarge, so its event becomes a dead letter",
            [#"{"fault":"answer","probability":0.1,"status":413,"reason":"PayloadTooLarge"}"#],
            soundDeadLettersMaximum: .max),
        apns("apns-silence", "no push is answered", [#"{"fault":"silence"}"#]),
        apns(
            "apns-delay", "every push is answered after 2.5 s", [#"{"fault":"delay","ms":2500}"#]),
        apns(
            "apns-tcp-reset", "connections are reset after 2 000 or 20 000 bytes",
            [
                #"{"fault":"tcp-reset","probability":0.5,"bytes":20000}"#,
                #"{"fault":"tcp-reset","probability":0.2,"bytes":2000}"#,
                #"{"fault":"goaway","probability":0.01}"#,
            ], redeliveries: 40),
        apns(
            "apns-tcp-silence", "connections fall silent after 0 or 5 000 bytes, and TCP stays up",
            [
                #"{"fault":"tcp-silence","probability":0.5,"bytes":5000}"#,
                #"{"fault":"tcp-silence","probability":0.2}"#, #"{"fault":"goaway","probability":0.01}"#,
            ]),
        apns(
            "apns-drip", "answers drip, a byte a millisecond",
            [#"{"fault":"drip","probability":1,"bytes":1}"#, #"{"fault":"goaway","probability":0.01}"#]),
        apns(
            "apns-window", "windows are shut, or open by 500 bytes every 100 ms",
            [
                #"{"fault":"window","probability":0.3,"bytes":2000}"#,
                #"{"fault":"window","probability":0.7,"bytes":2000,"add":500,"every_ms":100}"#,
                #"{"fault":"goaway","probability":0.01}"#,
            ]),
        apns(
            "apns-certificate", "connections show somebody else's certificate",
            [#"{"fault":"certificate","probability":0.8}"#, #"{"fault":"goaway","probability":0.02}"#]),
        refusedAddresses,
        refusedEnvironment,
        apns("apns-mixed", "all of that by chance", mixed, redeliveries: 40),
    ]

    /// Some devices have the credentials refused, and all others have to be told meanwhile.
    private static func refused(
        _ name: String, _ sentence: String, reason: String, prefix: String, hasSandbox: Bool
    ) -> Scenario {
        Scenario(
            name: name, domain: .apns, sentence: sentence,
            setting: Setting(
                hasSandbox: hasSandbox, workerConfiguration: shortPushTimeout, eventsPerSecond: 100), redeliveries: 16
        ) { environment in
            try environment.service(.apns).control(
                #"{"fault":"answer","token":"\#(prefix)","status":403,"reason":"\#(reason)"}"#)
            try await environment.requirePushes("the other devices") { population, device in
                !population.token(of: device).hasPrefix(prefix)
            }
            try environment.endFaults(of: .apns)
            try await environment.waitUntilReady()
        }.impatient()
    }

    private static let refusedAddresses = refused(
        "apns-addresses-refused", "one device in sixteen is answered 403, and all others are told meanwhile",
        reason: "InvalidProviderToken", prefix: "3", hasSandbox: false)

    private static let refusedEnvironment = refused(
        "apns-environment-refused",
        "the key is refused for the development environment, and the devices of production are told meanwhile",
        reason: "BadEnvironmentKeyIdInToken", prefix: Population.sandboxPrefix, hasSandbox: true)

    private static let mixed = [
        #"{"fault":"goaway","probability":0.002}"#,
        #"{"fault":"goaway","probability":0.002,"last":"previous","reason":"Shutdown"}"#,
        #"{"fault":"goaway","probability":0.001,"last":"none"}"#,
        #"{"fault":"reset-stream","probability":0.01,"error":7}"#,
        #"{"fault":"reset-stream","probability":0.005,"error":2}"#,
        #"{"fault":"answer","probability":0.01,"status":429,"reason":"TooManyRequests","retry_after":1}"#,
        #"{"fault":"answer","probability":0.003,"status":500,"body":"<html>","header_bytes":9000}"#,
        #"{"fault":"answer","probability":0.002,"status":503,"reason":"ServiceUnavailable","body_bytes":200000}"#,
        #"{"fault":"stream-limit","on":"rejection","probability":0.3,"streams":1,"back_ms":30}"#,
        #"{"fault":"wedge","probability":0.0005}"#,
        #"{"fault":"silence","probability":0.002}"#,
        #"{"fault":"delay","probability":0.01,"ms":150}"#,
        #"{"fault":"tcp-reset","probability":0.15,"bytes":20000}"#,
        #"{"fault":"tcp-reset","probability":0.05,"bytes":1800}"#,
        #"{"fault":"tcp-silence","probability":0.05,"bytes":30000}"#,
        #"{"fault":"tcp-silence","probability":0.03}"#,
        #"{"fault":"drip","probability":0.1,"bytes":400}"#,
        #"{"fault":"window","probability":0.1,"add":20000,"every_ms":20}"#,
        #"{"fault":"window","probability":0.03,"bytes":2000}"#,
        #"{"fault":"certificate","probability":0.1}"#,
    ]
}
