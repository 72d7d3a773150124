import Foundation
import PushServiceSimulator
import SimulatorTestClient
import Testing
import WebPushSimulator

@Suite("Web Push: faults of the connection", .timeLimit(.minutes(10)))
struct TransportFaultTests {
    @Test("A fault is of one origin or of each by itself, and counts for itself")
    func byOrigin() async throws {
        let faults = try WebPushFaults.lines(
            """
            {"fault":"answer","origin":"fcm","reason":"UNAVAILABLE","times":1,"retry_after":7}
            {"fault":"answer","reason":"THROTTLED","times":1,"token":"","retry_after":"Wed, 21 Oct 2026 07:28:00 GMT"}
            """)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.webPushFaults = faults }) { fixture in
            let first = try await fixture.send("fcm")
            #expect(first.status == 503 && first.header("retry-after") == "7")
            for origin in fixture.simulator.originNames {
                let response = try await fixture.send(origin)
                #expect(response.status == (origin == "wns" ? 406 : 429), "\(origin)")
                #expect(response.header("retry-after") == "Wed, 21 Oct 2026 07:28:00 GMT")
                #expect(origin != "wns" || response.header("x-wns-status") == "channelthrottled")
                #expect(try await fixture.send(origin).status == 201, "\(origin)")
            }
            #expect(throws: SimulatorError.self) {
                try fixture.simulator.add(.lines(#"{"fault":"wedge","origin":"x"}"#))
            }
        }
        #expect(summary.faults == 6 && summary.origins["fcm"]?.faults == 2 && summary.accepted == 5)
        #expect(summary.earlyAfterRetryAfter == 1)
    }

    @Test("GOAWAY, RST_STREAM, fewer streams and wedged connections, chosen by the names of subscriptions")
    func http2() async throws {
        try await WebPushFixture.run { fixture in
            let client = try fixture.client("fcm")
            #expect(await client.streamLimits(count: 1) == [100])
            try fixture.simulator.add(
                .lines(
                    """
                    {"fault":"reset-stream","error":7,"token":"fcm-0000001","times":1}
                    {"fault":"stream-limit","streams":2,"back_ms":20,"token":"fcm-0000002","times":1}
                    {"fault":"goaway","last":"previous","error":1,"reason":"drain","token":"fcm-0000003"}
                    {"fault":"wedge","origin":"apple","times":1}
                    """))
            #expect(try await fixture.send("fcm", 1) == .reset(7))
            #expect(try await fixture.send("fcm", 1).status == 201)
            #expect(try await fixture.send("fcm", 2).status == 201)
            #expect(await client.streamLimits(count: 3) == [100, 2, 100])
            #expect(try await fixture.send("mozilla", 3).status == 201)
            #expect(try await fixture.send("fcm", 3).status == nil)
            let goodbye = await client.goAway()
            #expect(goodbye?.errorCode == 1 && goodbye?.debugText == "drain")
            for _ in 0..<2 {
                #expect(try await fixture.send("apple").body == #"{"reason":"BadJwtToken"}"#)
            }
            let other = try await WebPushFixture.connect(to: "apple", of: fixture.simulator)
            #expect(await other.send(try fixture.push("apple")).status == 201)
            try await other.close()
        }
    }

    @Test("Answers are lost, cut, late, wrong, or none; a lost one makes a duplicate, whoever encrypts again")
    func answers() async throws {
        let summary = try await WebPushFixture.run { fixture in
            let client = try fixture.client("mozilla")
            try fixture.simulator.add(.lines(#"{"fault":"lose-answer","origin":"mozilla","times":1}"#))
            let lost = try #require(try await client.sendWithoutWaiting(try fixture.push("mozilla")))
            try await fixture.simulator.waitForAnswers(1)
            try await client.reset(lost)
            #expect(try await fixture.send("mozilla").status == 201)
            fixture.simulator.removeFaults()
            fixture.simulator.change(by: try .lines(#"{"subscription":"mozilla-0000009","answer":"gone"}"#))
            try fixture.simulator.add(
                .lines(
                    """
                    {"fault":"cut-answer","bytes":9,"token":"mozilla-0000009","times":1}
                    {"fault":"delay","ms":30,"times":1,"token":"mozilla-0000001"}
                    {"fault":"answer","status":200,"body":"<p>","content_type":"text/html","times":1,"origin":"plain"}
                    {"fault":"silence","times":1,"token":"mozilla-0000002"}
                    """))
            let cut = try await fixture.send("mozilla", 9)
            #expect(cut.status == 410 && cut.body == #"{"code":4"#)
            #expect(try await fixture.send("mozilla", 1).status == 201)
            let page = try await fixture.send("plain")
            #expect(page.status == 200 && page.body == "<p>" && page.header("content-type") == "text/html")
            let silent = try #require(try await client.sendWithoutWaiting(try fixture.push("mozilla", 2)))
            #expect(try await fixture.send("mozilla", 3).status == 201)
            try await client.reset(silent)
        }
        #expect(summary.accepted == 4 && summary.duplicates == 1 && summary.reusedKeys == 0)
        #expect(summary.serving.lostAnswers == 1 && summary.serving.silent == 1 && summary.faults == 5)
    }

    @Test("TCP is reset, a foreign certificate shown, and the window opens slowly, at one origin and no other")
    func connections() async throws {
        let faults = try WebPushFaults.lines(
            """
            {"fault":"certificate","origin":"apple","connection":2}
            {"fault":"tcp-reset","origin":"wns","connection":2,"bytes":3000}
            {"fault":"window","origin":"fcm","connection":2,"bytes":500,"add":300,"every_ms":1}
            """)
        try await WebPushFixture.run(WebPushFixture.configured { $0.webPushFaults = faults }) { fixture in
            await #expect(throws: SimulatorClient.NotConnected.self) {
                _ = try await WebPushFixture.connect(to: "apple", of: fixture.simulator)
            }
            for (origin, isReset) in [("wns", true), ("fcm", false), ("mozilla", false)] {
                let second = try await WebPushFixture.connect(to: origin, of: fixture.simulator)
                let pushes = try (0..<100).map { try fixture.push(origin, $0 % 20) }
                let responses = await second.send(pushes)
                #expect(responses.contains(.closed) == isReset, "\(origin)")
                #expect(isReset || responses.allSatisfy { $0.status == 201 }, "\(origin)")
                try await second.close()
                #expect(try await fixture.send(origin).status == 201, "\(origin)")
            }
        }
    }

    @Test("Several loops of an origin share subscriptions, tokens, and what was accepted")
    func severalLoops() async throws {
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.loopCount = 3 }) { fixture in
            let authorization = try fixture.authorization("fcm")
            for _ in 0..<5 {
                let client = try await WebPushFixture.connect(to: "fcm", of: fixture.simulator)
                #expect(
                    await client.send(try fixture.push("fcm").with("authorization", authorization)).status == 201)
                try await client.close()
            }
            #expect(try await fixture.simulator.recorded().count == 5)
        }
        #expect(summary.duplicates == 4 && summary.accepted == 5 && summary.vapidTokens == 1)
        #expect(summary.origins["fcm"]?.serving.connections == 6)
    }

    @Test("Clients that send garbage, or nothing, do no harm")
    func garbage() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        try await WebPushFixture.run(WebPushFixture.configured { $0.origins = [.init(.plain)] }) { fixture in
            let port = try #require(
                UInt16(try fixture.simulator.url(ofOrigin: "plain").split(separator: ":").last ?? ""))
            for (index, bytes) in GarbageClient.samples(seed: seed).enumerated() {
                try GarbageClient.send(bytes, port: port)
                #expect(try await fixture.send("plain").status == 201, "seed \(seed), sample \(index)")
            }
        }
    }
}
