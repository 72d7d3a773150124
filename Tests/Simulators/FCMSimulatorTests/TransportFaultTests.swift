import EventLoop
import Foundation
import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: faults of the connection", .timeLimit(.minutes(10)))
struct TransportFaultTests {
    @Test("A hundred streams are announced, and a sender that keeps to that has the others wait")
    func streamLimit() async throws {
        let script = try TargetScript.lines(#"{"token":"silent","answer":"silent"}"#)
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.script = script }) { fixture in
            #expect(await fixture.client.streamLimits(count: 1) == [100])
            let token = try await fixture.accessToken()
            let silent = fixture.message(to: "silent", accessToken: token)
            for _ in 0..<100 { _ = try await fixture.client.sendWithoutWaiting(silent) }
            // The client of the tests obeys, so that the request waits.
            let waiting = try #require(await fixture.client.sendWithoutWaiting(fixture.message(accessToken: token)))
            try await fixture.client.reset(waiting - 2)
            try await fixture.simulator.waitForAnswers(1)
        }
        #expect(summary.serving.concurrentStreamsMaximum == 100)
        #expect(summary.serving.protocolViolations == 0)
    }

    @Test("Google's GOAWAY carries its text, and ends requests that it has not processed")
    func goAway() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(
                try .fcm(
                    #"{"fault":"goaway","error":1,"last":"previous","reason":"exceeded_max_concurrent_streams"}"#))
            let response = await fixture.client.send(fixture.message(accessToken: token))
            #expect(response.status == nil)
            let goodbye = await fixture.client.goAway()
            #expect(goodbye?.errorCode == 1)
            #expect(goodbye?.debugText == "exceeded_max_concurrent_streams")
            #expect(try await fixture.simulator.recorded().isEmpty)
        }
    }

    @Test("Fewer streams are announced for a while")
    func lowerSettings() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"stream-limit","streams":2,"back_ms":20,"times":1}"#))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
            #expect(await fixture.client.streamLimits(count: 3) == [100, 2, 100])
        }
    }

    @Test("A stream is reset in place of an answer")
    func resetStream() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"reset-stream","error":7,"token":"dQ","times":1}"#))
            #expect(await fixture.client.send(fixture.message(to: "other", accessToken: token)).status == 200)
            #expect(await fixture.client.send(fixture.message(accessToken: token)) == .reset(7))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
        }
    }

    @Test("The beginnings of tokens in faults are as they are, not of either case")
    func tokensKeepTheirCase() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"answer","status":500,"token":"dq"}"#))
            #expect(await fixture.client.send(fixture.message(to: "dQ", accessToken: token)).status == 200)
            #expect(await fixture.client.send(fixture.message(to: "dq", accessToken: token)).status == 500)
        }
    }

    @Test("A wedged connection takes no access token any more")
    func wedge() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"wedge","times":1}"#))
            for _ in 0..<2 {
                let response = await fixture.client.send(fixture.message(accessToken: token))
                #expect(response.status == 401 && response.body?.contains("ACCESS_TOKEN_EXPIRED") == true)
            }
            let other = try await SimulatorClient.connect(
                port: fixture.simulator.port, trustAnchorPEM: fixture.simulator.trustAnchorPEM)
            #expect(await other.send(fixture.message(accessToken: token)).status == 200)
            try await other.close()
        }
    }

    @Test("An accepted message whose answer is lost is a duplicate when it comes again")
    func lostAnswer() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"lose-answer","times":1}"#))
            let request = fixture.message(accessToken: token)
            let stream = try #require(await fixture.client.sendWithoutWaiting(request))
            try await fixture.simulator.waitForAnswers(1)
            try await fixture.client.reset(stream)
            // A repetition may be less patient than the first, and is the same message all the same.
            let again = fixture.message(
                #""data":{"syncCount":"7"},"android":{"ttl":"5s","priority":"HIGH"}"#, accessToken: token)
            #expect(await fixture.client.send(again).status == 200)
        }
        #expect(summary.accepted == 2 && summary.distinctMessages == 1 && summary.duplicates == 1)
        #expect(summary.serving.lostAnswers == 1 && summary.serving.abandoned == 0)
    }

    @Test("Answers are cut, empty, too large, late, or none")
    func brokenAnswers() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(
                try .fcm(
                    """
                    {"fault":"cut-answer","bytes":9,"times":1}
                    {"fault":"cut-answer","times":1}
                    {"fault":"answer","reason":"EMPTY_503","times":1}
                    {"fault":"answer","reason":"TRUNCATED_503","times":1}
                    {"fault":"answer","status":200,"body":"{}","body_bytes":100000,"header_bytes":5000,"times":1}
                    {"fault":"delay","ms":30,"times":1}
                    {"fault":"answer","reason":"HTML_408","times":1}
                    """))
            let request = fixture.message(accessToken: token)
            let cut = await fixture.client.send(request)
            #expect(cut.status == 200 && cut.body == "{\n  \"name")
            #expect(await fixture.client.send(request).body == "")
            let empty = await fixture.client.send(request)
            #expect(empty.status == 503 && empty.body == "")
            let truncated = await fixture.client.send(request)
            #expect(truncated.status == 503 && (try? JSONParser().parse(truncated.body ?? "")) == nil)
            let large = await fixture.client.send(request)
            #expect(large.answer?.bytes.count == 100_000 && large.header("x-extra")?.count == 5_000)
            #expect(await fixture.client.send(request).status == 200)
            let timeout = await fixture.client.send(request)
            #expect(timeout.status == 408 && timeout.header("content-type") == "text/html; charset=UTF-8")
        }
        #expect(summary.faults == 7)
        #expect(summary.accepted == 3, "those that were cut or late")
    }

    @Test("Silence ends a message without a trace, and the others go on")
    func silence() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(try .fcm(#"{"fault":"silence","times":1}"#))
            let stream = try #require(
                await fixture.client.sendWithoutWaiting(fixture.message(to: "a", accessToken: token)))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
            try await fixture.client.reset(stream)
        }
        #expect(summary.accepted == 1 && summary.serving.silent == 1)
    }

    @Test("A refusal can bring a fault with it")
    func afterRejection() async throws {
        let script = try TargetScript.lines(#"{"token":"gone","answer":"unregistered"}"#)
        try await FCMFixture.run(
            FCMFixture.configured {
                $0.script = script
                $0.faults = try .fcm(#"{"fault":"stream-limit","on":"rejection","streams":1,"back_ms":20}"#)
            }
        ) { fixture in
            let token = try await fixture.accessToken()
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
            #expect(await fixture.client.send(fixture.message(to: "gone", accessToken: token)).status == 404)
            #expect(await fixture.client.streamLimits(count: 3) == [100, 1, 100])
        }
    }

    /// Runs a simulator with a fault of its second connection, and hands over how to make that.
    private func runWithSecond(
        _ fault: String, _ body: (FCMFixture, () async throws -> SimulatorClient) async throws -> Void
    ) async throws {
        try await FCMFixture.run(FCMFixture.configured { $0.faults = try .fcm(fault) }) { fixture in
            try await body(fixture) {
                try await SimulatorClient.connect(
                    port: fixture.simulator.port, trustAnchorPEM: fixture.simulator.trustAnchorPEM)
            }
        }
    }

    @Test("An idle connection ends without a word, and a busy one does not")
    func idleEnd() async throws {
        try await runWithSecond(#"{"fault":"idle-end","ms":1500,"connection":2}"#) { fixture, connect in
            let token = try await fixture.accessToken()
            let second = try await connect()
            #expect(await second.send(fixture.message(accessToken: token)).status == 200)
            #expect(await second.goAway() == nil)
            await second.end()
            try await second.close()
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
        }
    }

    @Test("TCP is reset after so many bytes")
    func tcpReset() async throws {
        try await runWithSecond(#"{"fault":"tcp-reset","bytes":6000,"connection":2}"#) { fixture, connect in
            let token = try await fixture.accessToken()
            let second = try await connect()
            let requests = (0..<100).map { _ in fixture.message(accessToken: token) }
            #expect(await second.send(requests).contains(.closed))
            await second.end()
            try await second.close()
        }
    }

    @Test("The certificate of another host is shown")
    func foreignCertificate() async throws {
        try await runWithSecond(#"{"fault":"certificate","connection":2}"#) { _, connect in
            await #expect(throws: SimulatorClient.NotConnected.self) { _ = try await connect() }
        }
    }

    @Test("A slow connection and a small window carry everything in the end")
    func slowConnections() async throws {
        for fault in [
            #"{"fault":"drip","bytes":200,"connection":2}"#,
            #"{"fault":"window","bytes":500,"add":300,"every_ms":1,"connection":2}"#,
        ] {
            try await runWithSecond(fault) { fixture, connect in
                let token = try await fixture.accessToken()
                let second = try await connect()
                let requests = (0..<20).map { fixture.message(#""data":{"n":"\#($0)"}"#, accessToken: token) }
                #expect(await second.send(requests).allSatisfy { $0.status == 200 }, "\(fault)")
                try await second.close()
            }
        }
    }

    @Test("Several loops share the connections, the access tokens, and what was accepted")
    func severalLoops() async throws {
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.loopCount = 3 }) { fixture in
            let token = try await fixture.accessToken()
            for _ in 0..<5 {
                let client = try await SimulatorClient.connect(
                    port: fixture.simulator.port, trustAnchorPEM: fixture.simulator.trustAnchorPEM)
                #expect(await client.send(fixture.message(accessToken: token)).status == 200)
                try await client.close()
            }
            #expect(try await fixture.simulator.recorded().count == 5)
        }
        #expect(summary.serving.connections == 6 && summary.duplicates == 4 && summary.accepted == 5)
    }

    @Test("Clients that send garbage, or nothing, do no harm")
    func garbage() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            for (index, bytes) in GarbageClient.samples(seed: seed).enumerated() {
                try GarbageClient.send(bytes, port: fixture.simulator.port)
                let status = await fixture.client.send(fixture.message(accessToken: token)).status
                #expect(status == 200, "seed \(seed), sample \(index)")
            }
        }
        #expect(summary.serving.connections == 1 + GarbageClient.sampleCount, "seed \(seed)")
    }
}
