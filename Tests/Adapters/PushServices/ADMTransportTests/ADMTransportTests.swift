import ADMSimulator
import Glibc
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import Testing

@Suite("Pushes to ADM, over TLS to the simulator")
struct ADMTransportTests {
    @Test("Every push is accepted once, with one access token for all")
    func traffic() async throws {
        let world = try ADMWorld()
        try world.send(0..<500)
        let outcomes = await world.outcomes(500)
        #expect(outcomes.count == 500)
        #expect(outcomes.values.allSatisfy { $0 == .accepted })
        #expect(world.reachability.value == [true])
        let records = world.simulator.recorded()
        #expect(Set(records.compactMap { $0.data?["body"] }).count == 500)
        #expect(records.allSatisfy { $0.registrationID == ADMWorld.prefix + ($0.data?["body"]?.dropFirst(5) ?? "") })
        let summary = await world.end()
        #expect((summary.answered, summary.accepted, summary.duplicates) == (500, 500, 0))
        #expect((summary.tokens.requests, summary.tokens.issued) == (1, 1))
    }

    @Test("Each answer ends its push with the status, the reason and the wait that ADM gave")
    func answers() async throws {
        let world = try ADMWorld(
            script: """
                {"registration":"\(ADMWorld.prefix)1","answer":"unregistered"}
                {"registration":"\(ADMWorld.prefix)2","answer":"invalid"}
                {"registration":"\(ADMWorld.prefix)3","answer":"throttled","retry_after":"7"}
                {"registration":"\(ADMWorld.prefix)4","answer":"unavailable",\
                "retry_after":"Fri, 31 Dec 1999 23:59:59 GMT"}
                {"registration":"\(ADMWorld.prefix)5","answer":"internal"}
                {"registration":"\(ADMWorld.prefix)6","answer":"replaced","successor":"\(ADMWorld.prefix)new"}
                """)
        try world.send(1...7)
        let outcomes = await world.outcomes(7)
        let successor = try #require(DeviceToken(text: Array("\(ADMWorld.prefix)new".utf8)))
        #expect(
            outcomes == [
                1: .answered(PushAnswer(status: 400, reason: ADMReason.unregistered)),
                2: .answered(PushAnswer(status: 400, reason: ADMReason.invalidRegistrationID)),
                3: .answered(PushAnswer(status: 429, reason: ADMReason.rateExceeded, retryAfterSeconds: 7)),
                4: .answered(PushAnswer(status: 503)),
                5: .answered(PushAnswer(status: 500)),
                6: .answered(PushAnswer(status: 200, successor: successor)), 7: .accepted,
            ])
        let name = "apus_push_registrations_replaced_total{app=\"chat\",service=\"adm\"} 1"
        #expect(world.metrics.render().contains(name))
        #expect(await world.end().accepted == 2)
    }

    @Test("Above the rate, pushes are refused with the time to wait, and none is lost")
    func rate() async throws {
        let now = Int64(time(nil)) * 1_000
        let world = try ADMWorld { configuration in
            configuration.messagesPerSecondMaximum = 10
            configuration.rateRetryAfter = "3"
            // The second does not end.
            configuration.wallClockMilliseconds = { now }
        }
        try world.send(0..<50)
        let outcomes = await world.outcomes(50)
        let refused = AttemptOutcome.answered(
            PushAnswer(status: 429, reason: ADMReason.rateExceeded, retryAfterSeconds: 3))
        #expect(outcomes.values.count { $0 == .accepted } == 10)
        #expect(outcomes.values.count { $0 == refused } == 40)
        await world.end()
    }

    // MARK: Access tokens

    @Test("When all tokens end at once, one more is fetched, and every push is accepted once")
    func revoked() async throws {
        let world = try ADMWorld()
        try world.send(0..<100)
        #expect(await world.outcomes(100).values.allSatisfy { $0 == .accepted })
        world.ageToken()
        world.simulator.revokeAccessTokens()
        try world.send(100..<300)
        #expect(await world.outcomes(300).values.allSatisfy { $0 == .accepted })
        let summary = await world.end()
        #expect((summary.accepted, summary.duplicates) == (300, 0))
        #expect(summary.tokens.issued == 2)
        #expect((1...8).contains(summary.count("AccessTokenExpired")))
    }

    @Test("A push whose fresh token is refused as well ends with the answer, and no third token is fetched")
    func refusedTwice() async throws {
        let world = try ADMWorld(script: "{\"registration\":\"\(ADMWorld.prefix)1\",\"answer\":\"expired\"}")
        try world.send([2])
        #expect(await world.outcomes(1) == [2: .accepted])
        world.ageToken()
        let refused = AttemptOutcome.answered(PushAnswer(status: 401, reason: ADMReason.accessTokenExpired))
        try world.send([1])
        #expect(await world.outcomes(2)[1] == refused)
        try world.send([10])
        #expect(await world.outcomes(3)[10] == refused)
        let summary = await world.end()
        #expect(summary.tokens.issued == 2)
        #expect(summary.answered + summary.silent == 4)
    }

    @Test("Credentials that Amazon refuses answer each push with 401, and no message is sent")
    func credentialsRefused() async throws {
        let world = try ADMWorld(secret: "wrong")
        try world.send(1...3)
        let outcomes = await world.outcomes(3)
        for outcome in outcomes.values {
            guard case .answered(let answer) = outcome else {
                Issue.record("not answered: \(outcome)")
                continue
            }
            #expect(answer.status == 401)
            #expect(answer.reason.contains("invalid_client"))
            #expect(!answer.reason.contains("wrong"))
        }
        let summary = await world.end()
        #expect((summary.answered, summary.tokens.requests) == (0, 1))
    }

    @Test("While Amazon gives no tokens pushes end as not processed, and later ones are accepted")
    func tokenUnavailable() async throws {
        let world = try ADMWorld {
            $0.tokenFaults = ADMTokenFaults([
                .answer(status: 503, retryAfter: "1"), .answer(status: 200, body: "no JSON"),
            ])
        }
        try world.send([1])
        guard case .notProcessed(let reason)? = await world.outcomes(1)[1] else {
            Issue.record("the push was processed")
            return
        }
        #expect(reason.contains("the token endpoint answered 503"))
        #expect(await world.reachability.wait { $0.last == false })
        // The client asks again by itself.
        #expect(await world.reachability.wait { $0.last == true })
        try world.send([2])
        #expect(await world.outcomes(2)[2] == .accepted)
        let summary = await world.end()
        #expect((summary.accepted, summary.tokens.requests) == (1, 3))
    }

    // MARK: No answers

    @Test("A push without an answer is ambiguous; one whose answer was lost may be a duplicate when it is repeated")
    func silence() async throws {
        let world = try ADMWorld(
            script: """
                {"registration":"\(ADMWorld.prefix)1","answer":"silent","times":1}
                {"registration":"\(ADMWorld.prefix)2","answer":"lose","times":1}
                """, deadlineSeconds: 1)
        try world.send(1...3)
        let outcomes = await world.outcomes(3)
        #expect(outcomes[1]?.isAmbiguous == true)
        #expect(outcomes[2]?.isAmbiguous == true)
        #expect(outcomes[3] == .accepted)
        world.results.update { $0 = [] }
        try world.send(1...2)
        #expect(await world.outcomes(2) == [1: .accepted, 2: .accepted])
        let summary = await world.end()
        #expect((summary.accepted, summary.duplicates, summary.silent, summary.lostAnswers) == (4, 1, 1, 1))
    }

    @Test("Connections that are lost again and again lose no push and double no result")
    func cutConnections() async throws {
        let port = try FreePorts.find(1)[0]
        let proxy = try await FaultProxy.start(to: port)
        let world = try ADMWorld(port: proxy.port, on: port)
        for round in 0..<10 {
            try world.send((round * 40)..<(round * 40 + 40))
            #expect(await world.results.wait { $0.count >= round * 40 + 10 })
            try await proxy.resetAll()
        }
        let outcomes = await world.outcomes(400)
        #expect(outcomes.count == 400)
        let accepted = outcomes.values.count { $0 == .accepted }
        let ambiguous = outcomes.values.count(where: \.isAmbiguous)
        #expect(accepted + ambiguous == 400)
        // Every push that was called accepted was accepted; an ambiguous one may have been.
        let summary = await world.end()
        #expect(summary.duplicates == 0)
        #expect((accepted...(accepted + ambiguous)).contains(summary.accepted))
        try await proxy.stop()
    }
}
