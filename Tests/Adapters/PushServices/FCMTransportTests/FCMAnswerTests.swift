import Essentials
import FCMSimulator
import Notifications
import Testing

@testable import FCMTransport

@Suite("Answers of FCM, through the client", .timeLimit(.minutes(10)))
struct FCMAnswerTests {
    @Test("An account's assertion is for the endpoint that its file names, and Google's if it names none")
    func audience() throws {
        for url in ["https://oauth2.example.com/token", nil] {
            let json = try FCMClientFixture.account().credentialsJSON(tokenURI: url ?? "")
                .replacing(url == nil ? "\"token_uri\"" : "-", with: url == nil ? "\"other\"" : "-")
            let account = try ServiceAccount(json: Array(json.utf8))
            let parts = try ServiceAccountAssertion(account, nowSeconds: 1_700_000_000).text.split(separator: ".")
            let claims = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
            #expect(claims.contains("\"aud\":\"\(url ?? ServiceAccount.defaultTokenURL)\""), "\(claims)")
            #expect(account.foreignTokenHost == (url == nil ? nil : "oauth2.example.com") && account.isOfGoogle)
        }
    }

    /// The meaning for the push of each known refusal by FCM and Google's front end.
    static let table: [FCMRefusal: Disposition] = [
        .unregistered: .tokenDead(sinceMilliseconds: nil),
        .senderMismatch: .tokenRejected(reason: "SENDER_ID_MISMATCH"),
        .invalidToken: .tokenRejected(reason: "INVALID_TOKEN"),
        .invalidTokenField: .tokenRejected(reason: "INVALID_TOKEN"),
        .deviceQuota: .retry(.throttled, afterSeconds: 60),
        .topicQuota: .retry(.quotaExceeded, afterSeconds: 60),
        .projectQuota: .retry(.quotaExceeded, afterSeconds: 60),
        .unavailable: .retry(.serviceUnavailable, afterSeconds: 10),
        .internalError: .retry(.serviceUnavailable, afterSeconds: 10),
        .thirdParty: .retry(.suspectConfiguration, afterSeconds: nil),
        .thirdPartyMisleading: .retry(.suspectConfiguration, afterSeconds: nil),
        .rateLimit: .retry(.quotaExceeded, afterSeconds: 60),
        .accessTokenExpired: .keyRejected(reason: "ACCESS_TOKEN_EXPIRED"),
        .credentialsMissing: .keyRejected(reason: "CREDENTIALS_MISSING"),
        .scopeInsufficient: .keyRejected(reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        .permissionDenied: .keyRejected(reason: "IAM_PERMISSION_DENIED"),
        .serviceDisabled: .keyRejected(reason: "SERVICE_DISABLED"),
        .unknownProject: .keyRejected(reason: "PROJECT_UNKNOWN"),
        .bareNotFound: .keyRejected(reason: "NOT_FOUND"),
        .bareForbidden: .keyRejected(reason: "PERMISSION_DENIED"),
        .deadlineExceeded: .retry(.serviceUnavailable, afterSeconds: 10),
        .notFoundPage: .keyRejected(reason: "status-404"),
        .timeoutPage: .retry(.serviceUnavailable, afterSeconds: 10),
        .gatewayPage: .retry(.serviceUnavailable, afterSeconds: 10),
        .empty: .retry(.serviceUnavailable, afterSeconds: 10),
        .truncated: .retry(.serviceUnavailable, afterSeconds: 10),
    ]

    @Test(
        "Each refusal that was ever seen of FCM has its meaning, and only FCM's own codes kill a token"
    )
    func refusals() async throws {
        let refusals = FCMRefusal.allCases
        let lines = refusals.enumerated().map { index, refusal in
            #"{"token":"device:\#(index)x","answer":"refuse","reason":"\#(refusal.rawValue)"}"#
        }
        let script = try TargetScript(parsing: Array(lines.joined(separator: "\n").utf8))
        try await FCMClientFixture.run(script: script) { fixture in
            // One after the other, because a refused account has the pool hold the others back.
            for (index, refusal) in refusals.enumerated() {
                try fixture.send([index], suffix: "x")
                let disposition = await fixture.dispositions(count: index + 1)[UInt64(index)]
                #expect(disposition == Self.table[refusal], "\(refusal)")
            }
        }
        #expect(Self.table.count == refusals.count)
    }

    @Test("A header retry-after raises a delay, and never lowers it")
    func retryAfter() async throws {
        let script = try TargetScript(
            parsing: Array(
                """
                {"token":"device:1","answer":"unavailable","retry_after":3}
                {"token":"device:2","answer":"unavailable","retry_after":90}
                {"token":"device:3","answer":"quota","retry_after":120}
                """.utf8))
        try await FCMClientFixture.run(script: script) { fixture in
            try fixture.send(1...3)
            let dispositions = await fixture.dispositions(count: 3)
            #expect(dispositions[1] == .retry(.serviceUnavailable, afterSeconds: 10))
            #expect(dispositions[2] == .retry(.serviceUnavailable, afterSeconds: 90))
            #expect(dispositions[3] == .retry(.throttled, afterSeconds: 120))
        }
    }

    @Test(
        "What Google explains is kept: the message, and the violations that it does not name",
        arguments: [
            (
                #"{"error":{"message":"Invalid value at 'message.ttl'","details":[]}}"#,
                "Invalid value at 'message.ttl'"
            ),
            (
                #"{"error":{"message":"Invalid.","details":[{"fieldViolations":[{"field":"message.ttl","description":"#
                    + #""no duration"},{"field":"message.data"}]}]}}"#,
                "Invalid.; message.ttl: no duration; message.data"
            ),
            (
                #"{"error":{"message":"Quota.","details":[{"violations":[{"subject":"device","description":"#
                    + #""240/min"}]}]}}"#,
                "Quota.; device: 240/min"
            ),
            (#"{"error":"text"}"#, "text"), ("<title>Error 404 (Not Found)!!1</title>", "Error 404 (Not Found)!!1"),
            ("", nil),
        ])
    func explanations(body: String, explanation: String?) {
        let answer = FCMAnswerParser().answer(status: 400, body: Array(body.utf8), retryAfterSeconds: nil)
        #expect(answer.explanation == explanation)
    }
}
