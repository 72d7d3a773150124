import EventLoop
import Glibc
import PushTestKit

extension Scenario {
    /// Workers die in the middle of pushes to all services.
    static let servicesWorkerKill = Scenario(
        name: "services-worker-kill", domain: .services,
        sentence: "SIGKILL to one worker after the other, while events go to devices of Apple, Androids and browsers",
        setting: Setting(services: ServiceKind.allCases), redeliveries: 6
    ) { environment in
        for _ in 0..<3 {
            for worker in environment.workers {
                try await Pause.seconds(environment.draw(0.2...1))
                try await worker.endBySignal(SIGKILL)
            }
        }
        try await environment.waitUntilReady()
    }

    /// Each service is in trouble once, while the same events go to devices of the others.
    static let isolations = ServiceKind.allCases.map { service in
        Scenario(
            name: "services-\(service.rawValue)-in-trouble", domain: .services,
            sentence: "\(service.title) is silent, throttles, and refuses the credentials, and meanwhile all devices "
                + "of the other services are told",
            setting: Setting(
                services: ServiceKind.allCases, workerConfiguration: shortPushTimeout, loadSeconds: 12,
                eventsPerSecond: 60), redeliveries: 24
        ) { environment in
            for trouble in service.troubles {
                try environment.service(service).control(trouble)
                try await environment.requirePushes("the other services, while \(service.title) has \(trouble)") {
                    $0.service(of: $1) != service
                }
                try environment.endFaults(of: service)
            }
            try await environment.waitUntilReady()
        }.impatient()
    }
}

extension ServiceKind {
    /// The faults that keep a service from accepting any push.
    fileprivate var troubles: [String] {
        let (throttled, refused) =
            switch self {
            // Its simulator knows no status by a reason.
            case .apns:
                (
                    Scenario.refusal("TooManyRequests", 1, more: #","status":429"#),
                    Scenario.refusal("InvalidProviderToken", 1, more: #","status":403"#)
                )
            case .fcm: (Scenario.refusal("RATE_LIMIT_EXCEEDED", 1), Scenario.refusal("IAM_PERMISSION_DENIED", 1))
            case .webpush: (Scenario.refusal("THROTTLED", 1), Scenario.refusal("VAPID_TOKEN_INVALID", 1))
            }
        return [#"{"fault":"silence"}"#, throttled, refused]
    }
}

extension Environment {
    private static let troubledConfirms = 200
    private static let patienceSeconds = 45.0

    /// Waits until some of the devices have got all that was published until some time after now.
    ///
    /// - Parameters:
    ///   - whose: the name of these devices in the error.
    ///   - isAsked: tells whether a device is one of them.
    /// - Throws: `EnvironmentFailure` if a push is still missing after a while.
    func requirePushes(_ whose: String, _ isAsked: (Population, Int) -> Bool) async throws {
        try await waitForConfirms(Self.troubledConfirms)
        let milliseconds = WallClock.nowMilliseconds()
        let end = Deadline.now() + Self.patienceSeconds
        while true {
            var ledger = try openBooks()
            for kind in scenario.setting.services { try enterRecord(of: kind, into: &ledger) }
            let missing = ledger.missing(confirmedByMilliseconds: milliseconds) { isAsked(population, $0) }
            if missing.isEmpty { return }
            guard Deadline.now() < end else {
                throw EnvironmentFailure(
                    "\(whose): \(missing.count) events have not arrived, for example \(missing[0])")
            }
            try await Pause.seconds(0.5)
        }
    }
}
