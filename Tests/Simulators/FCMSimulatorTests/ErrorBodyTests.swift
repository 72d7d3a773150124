import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

@testable import FCMSimulator

/// The bodies as they are quoted by those who got them from Google.
@Suite("FCM: the bytes of answers", .timeLimit(.minutes(10)))
struct ErrorBodyTests {
    private static let project = FCMProject(id: "chat-4711", number: "4711", messagesPerMinute: 600_000)

    private func body(_ refusal: FCMRefusal) -> String {
        String(decoding: refusal.answer(Self.project).body, as: UTF8.self)
    }

    private func simple(_ status: Int, _ message: String, _ code: String, _ errorCode: String) -> String {
        """
        {
          "error": {
            "code": \(status),
            "message": "\(message)",
            "status": "\(code)",
            "details": [
              {
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                "errorCode": "\(errorCode)"
              }
            ]
          }
        }

        """
    }

    @Test("Errors of FCM have its code in a detail")
    func errorsOfFCM() {
        #expect(
            body(.unregistered) == simple(404, "Requested entity was not found.", "NOT_FOUND", "UNREGISTERED"))
        #expect(body(.senderMismatch) == simple(403, "SenderId mismatch", "PERMISSION_DENIED", "SENDER_ID_MISMATCH"))
        #expect(
            body(.invalidToken)
                == simple(
                    400, "The registration token is not a valid FCM registration token", "INVALID_ARGUMENT",
                    "INVALID_ARGUMENT"))
        #expect(
            body(.unavailable)
                == simple(503, "The service is currently unavailable.", "UNAVAILABLE", "UNAVAILABLE"))
        #expect(body(.internalError) == simple(500, "Internal error encountered.", "INTERNAL", "INTERNAL"))
        #expect(
            body(.thirdParty)
                == simple(
                    401, "Auth error from APNS or Web Push Service", "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"))
    }

    @Test("The quota of the project is an error of the front end")
    func rateLimit() {
        #expect(
            body(.rateLimit) == """
                {
                  "error": {
                    "code": 429,
                    "message": "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' \
                of service 'fcm.googleapis.com' for consumer 'project_number:4711'.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                      {
                        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                        "reason": "RATE_LIMIT_EXCEEDED",
                        "domain": "googleapis.com",
                        "metadata": {
                          "quota_limit_value": "600000",
                          "consumer": "projects/4711",
                          "quota_metric": "fcm.googleapis.com/send_requests",
                          "quota_unit": "1/min/{project}",
                          "service": "fcm.googleapis.com",
                          "quota_location": "global",
                          "quota_limit": "SendsPerMinutePerProject"
                        }
                      },
                      {
                        "@type": "type.googleapis.com/google.rpc.Help",
                        "links": [
                          {
                            "description": "Request a higher quota limit.",
                            "url": "https://cloud.google.com/docs/quotas/help/request_increase"
                          }
                        ]
                      }
                    ]
                  }
                }

                """)
    }

    @Test("The quota of a device names what was exceeded, and its code is QUOTA_EXCEEDED")
    func deviceQuota() throws {
        for (refusal, subject) in [
            (FCMRefusal.deviceQuota, "device"), (.topicQuota, "topic"), (.projectQuota, "projects/chat-4711"),
        ] {
            let details = try JSONParser().parse(body(refusal))["error"]?["details"]?.elements ?? []
            #expect(details.compactMap { $0["errorCode"]?.string } == ["QUOTA_EXCEEDED"])
            let violations = details.compactMap { $0["violations"]?.elements.first?["subject"]?.string }
            #expect(violations == [subject])
        }
    }

    @Test("The two 401s are alike but for their details")
    func unauthenticated() throws {
        func details(_ refusal: FCMRefusal) throws -> [String?]? {
            let parsed = try JSONParser().parse(body(refusal))["error"]
            return parsed?["details"]?.elements.map { $0["errorCode"]?.string ?? $0["reason"]?.string }
        }
        func message(_ refusal: FCMRefusal) throws -> String? {
            try JSONParser().parse(body(refusal))["error"]?["message"]?.string
        }
        #expect(try message(.thirdPartyMisleading) == message(.credentialsMissing))
        #expect(try details(.thirdPartyMisleading) == ["THIRD_PARTY_AUTH_ERROR"])
        #expect(try details(.credentialsMissing) == ["CREDENTIALS_MISSING"])
        #expect(try details(.accessTokenExpired) == ["ACCESS_TOKEN_EXPIRED"])
    }

    @Test("Every refusal can be had as an answer of a fault and of a script", arguments: FCMRefusal.allCases)
    func everyRefusal(_ refusal: FCMRefusal) async throws {
        try await FCMFixture.run(
            FCMFixture.configured {
                $0.script = try .lines(#"{"token":"script","answer":"refuse","reason":"\#(refusal.rawValue)"}"#)
                $0.faults = try .fcm(
                    #"{"fault":"answer","token":"fault","reason":"\#(refusal.rawValue)","retry_after":"a date"}"#
                )
            }
        ) { fixture in
            let token = try await fixture.accessToken()
            let own = await fixture.client.send(fixture.message(to: "script", accessToken: token))
            let expected = refusal.answer(Self.project)
            #expect(own.answer?.bytes == expected.body && own.status == expected.status)
            #expect(own.header("content-type") == expected.contentType)
            let faulty = await fixture.client.send(fixture.message(to: "fault", accessToken: token))
            #expect(faulty.status == expected.status)
            #expect(faulty.header("retry-after") == "a date")
            #expect(try FCMFixture.errorCode(faulty) == refusal.fcmErrorCode)
            let records = try await fixture.simulator.recorded()
            #expect(records.map(\.reason) == [expected.reason, expected.reason])
        }
    }

    @Test("Success names the message as Google does, on three lines")
    func success() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            let response = await fixture.client.send(fixture.message(accessToken: token))
            let body = try #require(response.body)
            let name = try #require(
                body.wholeMatch(of: #/{\n  "name": "(projects/chat-4711/messages/0:[0-9]{16}%[0-9a-f]{16})"\n}\n/#))
            #expect(try await fixture.simulator.recorded().map(\.name) == [String(name.1)])
            #expect(response.header("content-type") == "application/json; charset=UTF-8")
            #expect(response.header("date") != nil)
            let dryRun = fixture.request(
                body: #"{"validate_only":true,"message":{"token":"\#(FCMFixture.device)"}}"#, accessToken: token)
            #expect(
                await fixture.client.send(dryRun).body
                    == "{\n  \"name\": \"projects/chat-4711/messages/fake_message_id\"\n}\n")
        }
    }
}
