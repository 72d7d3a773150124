import Essentials
import PushServiceSimulator
import SimulatorTestClient
import Testing
import WebPushSimulator

@Suite("Web Push: the states of subscriptions", .timeLimit(.minutes(10)))
struct SubscriptionStateTests {
    @Test("Subscriptions that are gone or stale are refused in the words of each service")
    func dead() async throws {
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"","answer":"gone"}
            {"subscription":"fcm-0000001","answer":"stale"}
            {"subscription":"mozilla-0000001","answer":"stale"}
            {"subscription":"fcm-0000002","answer":"unauthorized"}
            {"subscription":"fcm-0000003","answer":"refuse","reason":"UNAUTHORIZED_REGISTRATION"}
            """)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            for origin in fixture.simulator.originNames {
                #expect(try await fixture.send(origin).status == 410, "\(origin)")
            }
            let fcm = try await fixture.send("fcm")
            #expect(fcm.body == "push subscription has unsubscribed or expired.\n")
            let mozilla = try await fixture.send("mozilla")
            #expect(mozilla.header("cache-control") == "max-age=86400")
            #expect(mozilla.body?.hasPrefix(#"{"code":410,"errno":103,"error":"Gone","message":"#) == true)
            #expect(try await fixture.send("apple").body == #"{"reason":"Unregistered"}"#)
            #expect(try await fixture.send("wns").body == "")
            #expect(try await fixture.send("fcm", 1).status == 404)
            #expect(try await fixture.send("mozilla", 1).body?.contains(#""errno":102"#) == true)
            let unauthorized = try await fixture.send("fcm", 2)
            #expect(unauthorized.status == 401 && unauthorized.body == "invalid push subscription endpoint\n")
            let registration = try await fixture.send("fcm", 3)
            #expect(registration.status == 400 && registration.body == "UnauthorizedRegistration\n")
            // The plaintext of a refused push is known all the same.
            #expect(try await fixture.simulator.recorded().allSatisfy { $0.plaintext != nil && $0.fate == nil })
        }
        #expect(summary.accepted == 0 && summary.count("SUBSCRIPTION_GONE") == 9)
    }

    @Test("A fresh subscription is gone at first, each for itself, and then there")
    func fresh() async throws {
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"fcm-","answer":"fresh"}
            {"subscription":"fcm-0000002","answer":"fresh","times":3}
            """)
        try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            for (index, status) in [(0, 410), (0, 201), (1, 410), (1, 201), (2, 410), (2, 410), (2, 410), (2, 201)] {
                let response = try await fixture.send("fcm", index)
                #expect(response.status == status)
            }
        }
    }

    @Test("A device behind a bridge takes less, and FCM says so with 400")
    func limit() async throws {
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"mozilla-","answer":"limit"}
            {"subscription":"fcm-","answer":"limit","bytes":200}
            """)
        try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            let fits = String(repeating: "x", count: 2_744 - 103)
            #expect(try await fixture.send("mozilla", 0, fits).status == 201)
            let refused = try await fixture.send("mozilla", 0, fits + "x")
            #expect(refused.status == 413 && refused.body?.contains(#""errno":104"#) == true)
            #expect(try await fixture.send("fcm", 0, String(repeating: "x", count: 97)).status == 201)
            #expect(try await fixture.send("fcm", 0, String(repeating: "x", count: 98)).status == 400)
        }
    }

    @Test("Throttling and overload tell seconds or a date; who comes back earlier is counted")
    func retryAfter() async throws {
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"wns-","answer":"throttled","times":1,"retry_after":900}
            {"subscription":"apple-","answer":"throttled"}
            {"subscription":"plain-","answer":"unavailable","times":1,"retry_after_date":120}
            {"subscription":"mozilla-","answer":"unavailable","times":1}
            {"subscription":"mozilla-","answer":"refuse","reason":"UNAVAILABLE_BRIEFLY","times":1}
            {"subscription":"mozilla-","answer":"refuse","reason":"BAD_GATEWAY","times":1}
            {"subscription":"fcm-","answer":"throttled","status":503,"times":1,"retry_after":"a while"}
            {"subscription":"fcm-","answer":"internal","times":1}
            """)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            let wns = try await fixture.send("wns")
            #expect(wns.status == 406 && wns.header("retry-after") == "900")
            #expect(wns.header("x-wns-status") == "channelthrottled")
            fixture.clock.advance(bySeconds: 899)
            #expect(try await fixture.send("wns").status == 201, "too early")
            let apple = try await fixture.send("apple")
            #expect(apple.status == 429 && apple.header("retry-after") == nil)
            #expect(apple.body == #"{"reason":"TooManyRequests"}"#)
            let plain = try await fixture.send("plain")
            let date = HTTPDate.text(fixture.clock.nowMilliseconds / 1_000 + 120)
            #expect(plain.status == 503 && plain.header("retry-after") == date)
            fixture.clock.advance(bySeconds: 120)
            #expect(try await fixture.send("plain").status == 201)
            let mozilla = try await fixture.send("mozilla")
            #expect(mozilla.status == 503 && mozilla.header("retry-after") == "120")
            #expect(mozilla.body?.contains(#""errno":201"#) == true)
            #expect(try await fixture.send("mozilla").body?.contains(#""errno":202"#) == true, "too early")
            let gateway = try await fixture.send("mozilla")
            #expect(gateway.status == 502 && gateway.body?.contains(#""errno":902"#) == true, "too early")
            let fcm = try await fixture.send("fcm")
            #expect(fcm.status == 503 && fcm.header("retry-after") == "a while")
            #expect(try await fixture.send("fcm").status == 500)
        }
        #expect(summary.earlyAfterRetryAfter == 3)
        #expect(summary.origins["wns"]?.earlyAfterRetryAfter == 1)
        #expect(summary.origins["plain"]?.earlyAfterRetryAfter == 0)
    }

    @Test("A redirect leads to a place that welcomes visitors, and counts them")
    func redirect() async throws {
        let script = try SubscriptionScript.lines(#"{"subscription":"","answer":"redirect","status":308}"#)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            for origin in fixture.simulator.originNames {
                let response = try await fixture.send(origin)
                #expect(response.status == 308)
                let url = try fixture.simulator.url(ofOrigin: origin)
                #expect(response.header("location") == url + "/trap/\(origin)-0000000")
            }
            let visit = try fixture.push("apple").with(":path", "/trap/apple-0000000")
            #expect(try await fixture.client("apple").send(visit).status == 201)
        }
        #expect(summary.trapVisits == 1 && summary.accepted == 0 && summary.origins["apple"]?.trapVisits == 1)
    }

    @Test("Answers that are lost, late or not given at all")
    func withoutAnswers() async throws {
        let script = try SubscriptionScript.lines(
            """
            {"subscription":"fcm-0000001","answer":"lose","times":1}
            {"subscription":"fcm-0000002","answer":"silent","times":1}
            {"subscription":"fcm-0000003","answer":"accept","delay":30}
            {"subscription":"fcm-0000004","answer":"other-key"}
            """)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            let client = try fixture.client("fcm")
            let lost = try #require(try await client.sendWithoutWaiting(try fixture.push("fcm", 1)))
            try await fixture.simulator.waitForAnswers(1)
            try await client.reset(lost)
            #expect(try await fixture.send("fcm", 1).status == 201)
            let silent = try #require(try await client.sendWithoutWaiting(try fixture.push("fcm", 2)))
            #expect(try await fixture.send("fcm", 3).status == 201)
            try await client.reset(silent)
            #expect(try await fixture.send("fcm", 2).status == 201)
            #expect(try await fixture.send("fcm", 4).status == 403)
        }
        #expect(summary.accepted == 4 && summary.duplicates == 1 && summary.distinctMessages == 3)
        #expect(summary.serving.lostAnswers == 1 && summary.serving.silent == 1)
    }

    @Test("Lines of a script that mean nothing are refused with their numbers")
    func badScripts() {
        for line in [
            "[]", "{}", #"{"subscription":"a"}"#, #"{"subscription":"a","answer":"maybe"}"#, #"{"answer":"gone"}"#,
            #"{"subscription":"a","answer":"refuse"}"#, #"{"subscription":"a","answer":"refuse","reason":"X"}"#,
            #"{"subscription":"a","answer":"gone","times":0}"#, #"{"subscription":"a","answer":"gone","status":99}"#,
            #"{"subscription":"a","online":1}"#, #"{"subscription":"a","online":true,"answer":"gone"}"#,
            #"{"subscription":"a","answer":"limit","bytes":5000}"#, #"{"subscription":"a","answer":"gone","x":1}"#,
        ] {
            let error = #expect(throws: SimulatorError.self) { try SubscriptionScript.lines("\n" + line) }
            #expect(error?.code == .scriptInvalid, "\(line)")
            #expect(error?.message.hasPrefix("line 2 of the script: ") == true, "\(line)")
        }
    }
}
