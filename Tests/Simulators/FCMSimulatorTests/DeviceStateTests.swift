import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: states of devices", .timeLimit(.minutes(10)))
struct DeviceStateTests {
    @Test("Each state has its answer, for tokens and for installation identifiers by themselves")
    func states() async throws {
        let script = try TargetScript.lines(
            """
            {"token":"gone","answer":"unregistered"}
            {"token":"other","answer":"other-sender"}
            {"token":"bad","answer":"malformed"}
            {"token":"busy","answer":"quota","retry_after":90}
            {"token":"down","answer":"unavailable","retry_after":"Wed, 21 Oct 2026 07:28:00 GMT"}
            {"token":"broken","answer":"internal"}
            {"token":"ios","answer":"third-party"}
            {"token":"late","answer":"accept","delay":5}
            {"fid":"c","answer":"unregistered"}
            """)
        try await FCMFixture.run(FCMFixture.configured { $0.script = script }) { fixture in
            let token = try await fixture.accessToken()
            func code(_ device: String) async throws -> String? {
                try FCMFixture.errorCode(await fixture.client.send(fixture.message(to: device, accessToken: token)))
            }
            #expect(try await code("gone1") == "UNREGISTERED")
            #expect(try await code("other1") == "SENDER_ID_MISMATCH")
            #expect(try await code("bad1") == "INVALID_ARGUMENT")
            #expect(try await code("busy1") == "QUOTA_EXCEEDED")
            #expect(try await code("down1") == "UNAVAILABLE")
            #expect(try await code("broken1") == "INTERNAL")
            #expect(try await code("ios1") == "THIRD_PARTY_AUTH_ERROR")
            #expect(try await code("late1") == nil)
            #expect(try await code("c1") == nil, "a token is no installation")
            let busy = await fixture.client.send(fixture.message(to: "busy1", accessToken: token))
            #expect(busy.status == 429 && busy.header("retry-after") == "90")
            let down = await fixture.client.send(fixture.message(to: "down1", accessToken: token))
            #expect(down.status == 503 && down.header("retry-after") == "Wed, 21 Oct 2026 07:28:00 GMT")
            let installation = fixture.request(
                body: #"{"message":{"fid":"\#(FCMFixture.installation)"}}"#, accessToken: token)
            #expect(try FCMFixture.errorCode(await fixture.client.send(installation)) == "UNREGISTERED")
        }
    }

    @Test("A state changes while the simulator runs, and a device registers again")
    func changes() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            func status(_ device: String) async -> Int? {
                await fixture.client.send(fixture.message(to: device, accessToken: token)).status
            }
            #expect(await status("a1") == 200)
            fixture.simulator.change(by: try .lines(#"{"token":"a","answer":"unregistered"}"#))
            fixture.simulator.change(by: try .lines(#"{"token":"b","answer":"other-sender"}"#))
            #expect(await status("a1") == 404)
            #expect(await status("b1") == 403)
            try fixture.simulator.execute(Array(#"{"token":"a","answer":"accept"}"#.utf8))
            #expect(await status("a1") == 200)
            #expect(await status("b1") == 403)
            fixture.simulator.replaceScript(by: .empty)
            #expect(await status("b1") == 200)
        }
        #expect(summary.count("UNREGISTERED") == 1 && summary.count("SENDER_ID_MISMATCH") == 2)
    }

    @Test("Steps follow each other for each device, and the longest beginning counts")
    func steps() async throws {
        let script = try TargetScript.lines(
            """
            {"token":"","answer":"refuse","reason":"HTML_502","times":1}

            {"token":"ab","answer":"unavailable","times":2}
            {"token":"ab","answer":"unregistered","times":1}
            """)
        try await FCMFixture.run(FCMFixture.configured { $0.script = script }) { fixture in
            let token = try await fixture.accessToken()
            func statuses(_ device: String, _ count: Int) async -> [Int?] {
                var statuses: [Int?] = []
                for _ in 0..<count {
                    statuses.append(await fixture.client.send(fixture.message(to: device, accessToken: token)).status)
                }
                return statuses
            }
            #expect(await statuses("ab1", 4) == [503, 503, 404, 200])
            #expect(await statuses("ab2", 1) == [503])
            #expect(await statuses("x", 2) == [502, 200])
        }
    }

    @Test("A silent device holds up no other, and a lost answer leaves a message that was accepted")
    func silenceAndLoss() async throws {
        let script = try TargetScript.lines(
            """
            {"token":"silent","answer":"silent"}
            {"token":"lost","answer":"lose","times":1}
            """)
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.script = script }) { fixture in
            let token = try await fixture.accessToken()
            let silent = try #require(
                await fixture.client.sendWithoutWaiting(fixture.message(to: "silent", accessToken: token)))
            let lost = try #require(
                await fixture.client.sendWithoutWaiting(fixture.message(to: "lost", accessToken: token)))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
            try await fixture.client.reset(silent)
            try await fixture.client.reset(lost)
            #expect(await fixture.client.send(fixture.message(to: "lost", accessToken: token)).status == 200)
            let records = try await fixture.simulator.recorded()
            #expect(records.map(\.target?.value) == ["lost", FCMFixture.device, "lost"])
            #expect(records.map(\.isDuplicate) == [false, false, true], "the trap: a repetition is a duplicate")
        }
        #expect(summary.accepted == 3 && summary.duplicates == 1 && summary.distinctMessages == 2)
        #expect(summary.serving.silent == 1 && summary.serving.lostAnswers == 1 && summary.serving.abandoned == 1)
    }

    @Test(
        "A line that is wrong is named, with what is wrong",
        arguments: [
            ("{\"token\":\"aa\",\"answer\":\"accept\"}\nnonsense", "line 2 of the script: "),
            (#"{"answer":"accept"}"#, "\"token\" or \"fid\""),
            (#"{"token":"a","fid":"b","answer":"accept"}"#, "\"token\" or \"fid\""),
            (#"{"token":"a"}"#, "no \"answer\""),
            (#"{"token":"a","answer":"explode"}"#, "explode"),
            (#"{"token":"a","answer":"refuse","reason":"Whim"}"#, "UNREGISTERED"),
            (#"{"token":"a","answer":"accept","times":0}"#, "\"times\""),
            (#"{"token":"a","answer":"accept","delay":-1}"#, "\"delay\""),
            (#"{"token":"a","answer":"accept","tiems":1}"#, "tiems"),
        ])
    func wrongLines(text: String, expected: String) {
        let error = #expect(throws: SimulatorError.self) { try TargetScript.lines(text) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }
}
