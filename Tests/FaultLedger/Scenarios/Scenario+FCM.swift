import FCMSimulator
import PushServiceSimulator
import PushTestKit

extension Scenario {
    /// A token that is refused within a minute of its fetch is the account's trouble, and not its age.
    private static let tokenAgeSeconds = 60.0

    /// Google revokes the access tokens of an account.
    static let fcmTokenRevoked = Scenario(
        name: "fcm-token-revoked", domain: .fcm,
        sentence: "FCM: all access tokens are revoked after a minute, and each worker fetches one new one",
        setting: Setting(
            services: [.fcm], workerConfiguration: shortPushTimeout, eventsPerSecond: 100, strikeShare: 0...0.001),
        redeliveries: 0
    ) { environment in
        try await Pause.seconds(tokenAgeSeconds)
        let issued = try await environment.tokenCounts().issued
        let workerCount = environment.workers.count
        try environment.service(.fcm).control(#"{"revoke":true}"#)
        try await eventually("each worker to fetch an access token", within: .seconds(30)) {
            try await environment.tokenCounts().issued >= issued + workerCount
        }
        try await environment.waitForConfirms(500)
        let fetched = try await environment.tokenCounts().issued - issued
        if fetched != workerCount {
            environment.report(problem: "\(workerCount) workers fetched \(fetched) access tokens for one revocation")
        }
        try await environment.waitUntilReady()
    }

    /// Google gives out no access tokens, and those that were given out are still good.
    static let fcmTokensFailing = Scenario(
        name: "fcm-tokens-failing", domain: .fcm,
        sentence: "FCM: the token endpoint answers 500 when tokens are to be renewed, so the old ones stay in use",
        setting: tokens(lifeSeconds: 30), redeliveries: 0
    ) { environment in
        try environment.service(.fcm).control(#"{"fault":"answer","on":"oauth","reason":"internal_failure"}"#)
        // Each worker asks when half of the life is over, and again a second later.
        let requests = try await environment.tokenCounts().requests
        try await eventually("the workers to ask in vain for access tokens", within: .seconds(40)) {
            try await environment.tokenCounts().requests >= requests + 2 * environment.workers.count
        }
        let accepted = try await environment.fcm.summary().accepted
        try await eventually("FCM to accept pushes with the old tokens", within: .seconds(10)) {
            try await environment.fcm.summary().accepted > accepted + 100
        }
        try environment.endFaults(of: .fcm)
        try await environment.waitUntilReady()
    }

    /// Google does not answer until the access tokens have expired.
    static let fcmTokensLate = Scenario(
        name: "fcm-tokens-late", domain: .fcm,
        sentence: "FCM: the token endpoint is silent until all tokens have expired, and then slow",
        setting: tokens(lifeSeconds: 8), redeliveries: 8
    ) { environment in
        try environment.service(.fcm).control(#"{"fault":"silence","on":"oauth"}"#)
        try await Pause.seconds(serviceFaultSeconds)
        try environment.endFaults(of: .fcm)
        try environment.service(.fcm).control(#"{"fault":"delay","ms":2000,"on":"oauth"}"#)
        try await environment.waitUntilReady()
        try environment.endFaults(of: .fcm)
    }

    /// Google does not know the account any more, for a while.
    static let fcmTokensRefused = Scenario(
        name: "fcm-tokens-refused", domain: .fcm,
        sentence: "FCM: the token endpoint refuses the account until all tokens have expired",
        setting: tokens(lifeSeconds: 6), redeliveries: 8
    ) { environment in
        try environment.service(.fcm).control(
            #"{"fault":"answer","on":"oauth","reason":"invalid_jwt_signature"}"#)
        try await Pause.seconds(serviceFaultSeconds)
        try environment.endFaults(of: .fcm)
        // A refusal is asked about again after a minute.
        try await environment.waitUntilReady()
    }

    private static func tokens(lifeSeconds: Int) -> Setting {
        Setting(
            services: [.fcm], workerConfiguration: shortPushTimeout, accessTokenSeconds: lifeSeconds,
            eventsPerSecond: 100, strikeShare: 0...0.2)
    }
}

extension Environment {
    /// The simulator of FCM.
    fileprivate var fcm: FCMSimulator {
        get throws {
            guard let simulator = try service(.fcm).running as? FCMSimulator else {
                throw EnvironmentFailure("FCM is simulated by something else")
            }
            return simulator
        }
    }

    fileprivate func tokenCounts() async throws -> TokenCounts { try await fcm.summary().tokens }
}
