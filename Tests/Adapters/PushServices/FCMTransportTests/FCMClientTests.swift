import FCMSimulator
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

@Suite("The client of FCM", .timeLimit(.minutes(10)))
struct FCMClientTests {
    private static func faults(_ lines: String) throws -> SimulatorFaults {
        try SimulatorFaults(parsingFCM: Array(lines.utf8))
    }

    @Test("Messages of many devices are accepted once each, with one access token")
    func accepted() async throws {
        let summary = try await FCMClientFixture.run { fixture in
            try fixture.send(1...1_000)
            let dispositions = await fixture.dispositions(count: 1_000)
            #expect(dispositions.count == 1_000 && dispositions.values.allSatisfy { $0 == .accepted })
            let outcomes = await fixture.results.wait(count: 1_000).map(\.outcome)
            #expect(outcomes.allSatisfy { $0 == .answered(PushAnswer(status: 200)) }, "no name unless it is asked for")
            let record = try #require(try await fixture.simulator.recorded().first)
            #expect(record.notification == ["title": "Hello"] && record.priority == "HIGH")
        }
        #expect(summary.distinctMessages == 1_000 && summary.duplicates == 0)
        #expect(summary.tokens.issued == 1 && summary.tokens.refused == 0)
    }

    @Test("A revoked access token is replaced once, and the messages that it was refused for are sent again")
    func revoked() async throws {
        let summary = try await FCMClientFixture.run { fixture in
            try fixture.send(1...10)
            _ = await fixture.dispositions(count: 10)
            fixture.simulator.revokeAccessTokens()
            fixture.aheadSeconds.update { $0 = 61 }
            try fixture.send(11...300)
            let dispositions = await fixture.dispositions(count: 300)
            #expect(dispositions.count == 300 && dispositions.values.allSatisfy { $0 == .accepted })
        }
        #expect(summary.distinctMessages == 300 && summary.duplicates == 0)
        #expect(summary.tokens.issued == 2, "one forced refresh for all of them")
    }

    @Test("A fresh access token that is refused refuses the account: no message waits, and none is dead")
    func refusedFresh() async throws {
        let summary = try await FCMClientFixture.run { fixture in
            try fixture.send(1...10)
            _ = await fixture.dispositions(count: 10)
            fixture.simulator.revokeAccessTokens()
            try fixture.send(11...300)
            let dispositions = await fixture.dispositions(count: 300)
            let others = dispositions.filter { $0.key > 10 }.values
            #expect(others.contains(.keyRejected(reason: "ACCESS_TOKEN_EXPIRED")))
            #expect(others.allSatisfy { $0 == .keyRejected(reason: "ACCESS_TOKEN_EXPIRED") || $0 == .resend })
        }
        #expect(summary.tokens.issued == 1)
    }

    @Test("An account that Google does not know has its messages parked with Google's words")
    func unknownAccount() async throws {
        let other = try ServiceAccountKey(projectID: "another-1")
        try await FCMClientFixture.run(accounts: [other.account]) { fixture in
            try fixture.send(1...20)
            let dispositions = await fixture.dispositions(count: 20)
            let reason = "the token endpoint answered 400 (invalid_grant: Invalid grant: account not found)"
            #expect(dispositions.count == 20)
            #expect(dispositions.values.allSatisfy { $0 == .keyRejected(reason: reason) })
        }
    }

    @Test("A connection that refuses everything is replaced, so that it does not hold the account")
    func wedged() async throws {
        let faults = try Self.faults(#"{"fault":"wedge","after":50,"times":1}"#)
        try await FCMClientFixture.run(faults: faults) { fixture in
            var sent = 0
            // One at a time, as a worker tries an account that was refused.
            while sent < 200 {
                sent += 1
                try fixture.send([sent])
                _ = await fixture.dispositions(count: sent)
            }
            let dispositions = await fixture.dispositions(count: sent)
            #expect(dispositions.values.contains(.keyRejected(reason: "ACCESS_TOKEN_EXPIRED")))
            #expect(dispositions[200] == .accepted)
        }
    }

    @Test("A silent service is no answer: the messages may be duplicates, and are told apart from those never sent")
    func silent() async throws {
        let script = try TargetScript(parsing: Array(#"{"token":"device:9","answer":"lose","times":1}"#.utf8))
        let summary = try await FCMClientFixture.run(script: script, deadlineMilliseconds: 500) { fixture in
            // A connection takes many only when it has brought an answer.
            try fixture.send([1])
            _ = await fixture.dispositions(count: 1)
            try fixture.send(900..<950)
            let dispositions = await fixture.dispositions(count: 51)
            #expect(dispositions.values.count { $0 == .resendPossibleDuplicate } == 50)
        }
        #expect(summary.accepted == 51)
    }

    @Test("Cut connections, GOAWAY and refused streams lose no message, and double none that was answered")
    func faults() async throws {
        let faults = try Self.faults(
            """
            {"fault":"goaway","last":"previous","reason":"session_timed_out","probability":0.005}
            {"fault":"reset-stream","error":7,"probability":0.01}
            {"fault":"stream-limit","streams":5,"back_ms":50,"probability":0.005}
            {"fault":"lose-answer","probability":0.002}
            {"fault":"answer","status":502,"body":"<html>","probability":0.01}
            """)
        let summary = try await FCMClientFixture.run(faults: faults, deadlineMilliseconds: 3_000) { fixture in
            try fixture.send(1...2_000)
            let dispositions = await fixture.dispositions(count: 2_000)
            #expect(dispositions.count == 2_000)
            let accepted = dispositions.values.count { $0 == .accepted }
            let again: Set<Disposition> = [
                .resend, .resendPossibleDuplicate, .retry(.serviceUnavailable, afterSeconds: 10),
            ]
            #expect(accepted + dispositions.values.count { again.contains($0) } == 2_000)
            let counted = try await fixture.simulator.summary()
            #expect(counted.distinctMessages >= accepted)
        }
        #expect(summary.faults > 20)
    }
}
