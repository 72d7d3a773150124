import PushTestKit

extension Scenario {
    /// How long FCM, or browsers' services, misbehave: longer than the broker waits for an acknowledgement.
    static let serviceFaultSeconds = 8.0

    /// Returns the faults that FCM and browsers' services share with APNs, whose table lists each by itself.
    static func faults(of service: ServiceKind) -> [Scenario] {
        connectionFaults(of: service) + answerFaults(of: service) + [.restart(of: service), .silentService(service)]
    }

    private static func fault(
        _ service: ServiceKind, _ name: String, _ sentence: String, _ faults: [String], redeliveries: Int = 16
    ) -> Scenario {
        misbehaviour(
            of: service, "\(service.rawValue)-\(name)", "\(service.title): \(sentence)", faults,
            seconds: serviceFaultSeconds, redeliveries: redeliveries)
    }

    private static func connectionFaults(of service: ServiceKind) -> [Scenario] {
        [
            fault(
                service, "goaway", "GOAWAY, after which all streams, all but one or none are still answered",
                [
                    #"{"fault":"goaway","probability":0.01}"#,
                    #"{"fault":"goaway","probability":0.01,"last":"previous","reason":"Shutdown"}"#,
                    #"{"fault":"goaway","probability":0.01,"last":"none"}"#,
                ]),
            fault(
                service, "reset-stream", "every fifth stream is refused, and every sixth reset with INTERNAL_ERROR",
                [
                    #"{"fault":"reset-stream","probability":0.2,"error":7}"#,
                    #"{"fault":"reset-stream","probability":0.17,"error":2}"#,
                ]),
            fault(
                service, "stream-limit", "one stream at a time, or none at all, again and again",
                [
                    #"{"fault":"stream-limit","probability":0.02,"streams":1,"back_ms":1500}"#,
                    #"{"fault":"stream-limit","probability":0.01,"streams":0,"back_ms":4000}"#,
                ]),
            fault(
                service, "tcp-reset", "connections are reset after 2 000 or 20 000 bytes",
                [
                    #"{"fault":"tcp-reset","probability":0.5,"bytes":20000}"#,
                    #"{"fault":"tcp-reset","probability":0.2,"bytes":2000}"#,
                    #"{"fault":"goaway","probability":0.01}"#,
                ], redeliveries: 40),
            fault(
                service, "tcp-silence", "connections fall silent after 0 or 5 000 bytes, and TCP stays up",
                [
                    #"{"fault":"tcp-silence","probability":0.5,"bytes":5000}"#,
                    #"{"fault":"tcp-silence","probability":0.2}"#, #"{"fault":"goaway","probability":0.01}"#,
                ]),
            fault(
                service, "slow-connections", "answers drip, a byte a millisecond; windows are shut, or open by bits",
                [
                    #"{"fault":"drip","probability":0.4,"bytes":1}"#,
                    #"{"fault":"window","probability":0.3,"bytes":2000}"#,
                    #"{"fault":"window","probability":0.7,"bytes":2000,"add":500,"every_ms":100}"#,
                    #"{"fault":"goaway","probability":0.01}"#,
                ]),
            fault(
                service, "wedge", "connections that refuse every request from some moment on",
                [#"{"fault":"wedge","probability":0.01}"#]),
            fault(
                service, "certificate", "connections show somebody else's certificate",
                [#"{"fault":"certificate","probability":0.8}"#, #"{"fault":"goaway","probability":0.02}"#]),
        ]
    }

    private static func answerFaults(of service: ServiceKind) -> [Scenario] {
        [
            fault(
                service, "throttled", "every second push is answered 429, with and without a time to wait",
                [
                    throttling(service, probability: 0.25) + #","retry_after":1}"#,
                    throttling(service, probability: 0.33) + "}",
                ]),
            fault(
                service, "unavailable", "every push is answered 503, half of them with a time to wait",
                [
                    service.unavailable(probability: 0.5, retryAfterSeconds: 1), service.unavailable(probability: 1),
                ]),
            fault(
                service, "internal-error",
                "every second push is answered 500, with a page of HTML and 9 000 bytes of headers, or its answer is "
                    + "cut off",
                [
                    #"{"fault":"answer","probability":0.4,"status":500,"body":"<html>","header_bytes":9000}"#,
                    #"{"fault":"cut-answer","probability":0.15,"bytes":10}"#,
                ]),
            fault(service, "silence", "no push is answered", [#"{"fault":"silence"}"#]),
            fault(
                service, "lost-answers", "every third push is accepted, and its answer does not come",
                [#"{"fault":"lose-answer","probability":0.33}"#]),
            fault(service, "delay", "every push is answered after 2.5 s", [#"{"fault":"delay","ms":2500}"#]),
            fault(service, "mixed", "all of that by chance", mixed(service), redeliveries: 40),
        ]
    }

    private static func throttling(_ service: ServiceKind, probability: Double) -> String {
        let reason = service == .fcm ? "RATE_LIMIT_EXCEEDED" : "THROTTLED"
        return #"{"fault":"answer","reason":"\#(reason)","probability":\#(probability)"#
    }

    private static func mixed(_ service: ServiceKind) -> [String] {
        [
            #"{"fault":"goaway","probability":0.002}"#,
            #"{"fault":"goaway","probability":0.002,"last":"previous","reason":"Shutdown"}"#,
            #"{"fault":"goaway","probability":0.001,"last":"none"}"#,
            #"{"fault":"reset-stream","probability":0.01,"error":7}"#,
            #"{"fault":"reset-stream","probability":0.005,"error":2}"#,
            throttling(service, probability: 0.01) + #","retry_after":1}"#,
            #"{"fault":"answer","probability":0.003,"status":500,"body":"<html>","header_bytes":9000}"#,
            #"{"fault":"answer","probability":0.002,"status":503,"body":"<html>","body_bytes":200000}"#,
            #"{"fault":"stream-limit","on":"rejection","probability":0.3,"streams":1,"back_ms":30}"#,
            #"{"fault":"silence","probability":0.002}"#,
            #"{"fault":"lose-answer","probability":0.005}"#,
            #"{"fault":"cut-answer","probability":0.005}"#,
            #"{"fault":"delay","probability":0.01,"ms":150}"#,
            #"{"fault":"tcp-reset","probability":0.15,"bytes":20000}"#,
            #"{"fault":"tcp-silence","probability":0.05,"bytes":30000}"#,
            #"{"fault":"tcp-silence","probability":0.03}"#,
            #"{"fault":"drip","probability":0.1,"bytes":400}"#,
            #"{"fault":"window","probability":0.1,"add":20000,"every_ms":20}"#,
            #"{"fault":"certificate","probability":0.1}"#,
        ]
    }

    /// The service is gone, and comes back without a memory: FCM does not know its access tokens any more.
    ///
    /// Workers take the refusal of a token that is young for the account's trouble, so tokens are renewed every ten
    /// seconds here; `fcmTokenRevoked` has tokens that live for an hour.
    private static func restart(of service: ServiceKind) -> Scenario {
        Scenario(
            name: "\(service.rawValue)-restart", domain: service.domain,
            sentence: "\(service.title): it goes down for 4 s in the middle of its answers, and comes back without a "
                + "memory",
            setting: Setting(services: [service], workerConfiguration: shortPushTimeout, accessTokenSeconds: 20),
            redeliveries: 8
        ) { environment in
            let staged = try environment.service(service)
            try await staged.goDown()
            try await Pause.seconds(4)
            try await staged.comeBack()
            try await environment.waitUntilReady()
        }.impatient()
    }

    // MARK: Answers that are final

    /// Single devices are gone, or have addresses of somebody else.
    static func refusals(of service: ServiceKind) -> Scenario {
        misbehaviour(
            of: service, "\(service.rawValue)-dead-tokens",
            "\(service.title): one push of a hundred finds its device gone, and another a device of another sender",
            [refusal(goneReason(service), 0.01), refusal(strangerReason(service), 0.01)],
            seconds: serviceFaultSeconds, removedDevicesMaximum: .max)
    }

    /// All devices seem to have addresses of somebody else.
    static func doubts(of service: ServiceKind) -> Scenario {
        misbehaviour(
            of: service, "\(service.rawValue)-tokens-in-doubt",
            "\(service.title): every push finds a device of another sender, as if the configuration were wrong",
            [refusal(strangerReason(service), 1)], seconds: serviceFaultSeconds)
    }

    /// The service does not take a push, and will not.
    static func tooLarge(at service: ServiceKind) -> Scenario {
        // FCM has no code for it: what is not about the token is about the message.
        let body = #"{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\"}}"#
        let fault =
            service == .fcm
            ? #"{"fault":"answer","probability":0.1,"status":400,"body":"\#(body)"}"#
            : refusal("CONTENT_TOO_LARGE", 0.1)
        return misbehaviour(
            of: service, "\(service.rawValue)-too-large",
            "\(service.title): every tenth push is refused for good, so its event becomes a dead letter", [fault],
            seconds: serviceFaultSeconds, soundDeadLettersMaximum: .max)
    }

    /// The service does not take the worker for who it is.
    static func wrongCredentials(of service: ServiceKind) -> Scenario {
        let reason = service == .fcm ? "IAM_PERMISSION_DENIED" : "VAPID_TOKEN_INVALID"
        return misbehaviour(
            of: service, "\(service.rawValue)-wrong-\(service == .fcm ? "account" : "key")",
            "\(service.title): every push is answered \(reason)", [refusal(reason, 1)], seconds: serviceFaultSeconds)
    }

    /// The line by which the simulator answers some requests with a refusal that it knows by name.
    static func refusal(_ reason: String, _ probability: Double, more: String = "") -> String {
        #"{"fault":"answer","reason":"\#(reason)","probability":\#(probability)\#(more)}"#
    }

    private static func goneReason(_ service: ServiceKind) -> String {
        service == .fcm ? "UNREGISTERED" : "SUBSCRIPTION_GONE"
    }

    private static func strangerReason(_ service: ServiceKind) -> String {
        service == .fcm ? "SENDER_ID_MISMATCH" : "VAPID_KEY_MISMATCH"
    }
}
