import Backoffice
import ChangeEvents
import Essentials
import Messages
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("What backends are told of their pushes")
struct OutcomeTests {
    private static let all = OutcomeSelection(OutcomeKind.allCases)

    private var machine = Samples.machine()
    private var actions = DispatchActions()
    private var milliseconds: Int64 = 0

    /// Sends to devices of an app whose backend hears of some outcomes.
    private mutating func send(
        to names: [String], hearing outcomes: OutcomeSelection = all, number: UInt64 = 1
    ) -> [PushRequest] {
        machine.jobArrived(
            Samples.job(
                number: number, devices: names.map { Samples.device($0) }, apps: [Samples.app(hearing: outcomes)]),
            into: &actions)
        machine.sendWaiting(at: Samples.moment(milliseconds), into: &actions)
        defer { actions.sends = [] }
        return actions.sends
    }

    private mutating func answer(_ request: PushRequest, _ status: Int, _ reason: String = "") {
        machine.pushEnded(
            AttemptResult(
                identifier: request.identifier, outcome: .answered(PushAnswer(status: status, reason: reason)),
                durationNanoseconds: 0), at: Samples.moment(milliseconds), into: &actions)
    }

    private mutating func takePublishes() -> [OutgoingMessage] {
        defer { actions.publishes = [] }
        return actions.publishes
    }

    @Test("An event is told of by outcome, and its delivery is settled when the broker has the outcomes")
    mutating func toldBeforeTheEnd() throws {
        let sends = send(to: ["a", "b", "c"])
        answer(sends[0], 200)
        answer(sends[1], 410, "Unregistered")
        #expect(actions.publishes.isEmpty, "the last push is out")
        answer(sends[2], 200)
        let outcomes = takePublishes()
        #expect(outcomes.allSatisfy { $0.exchange == "apus.outcomes" && $0.isOptional })
        let told = outcomes.map(Outcome.init)
        #expect(told.map(\.routingKey) == ["accepted.push.requested.chat", "token-dead.push.requested.chat"])
        #expect(told.map(\.deviceIDs) == [["a", "c"], ["b"]])
        #expect(told[1].reasons == ["Unregistered"] && told[1].attempt == 1)
        #expect(told[0].attribute("type") == "apus.push.accepted" && told[0].attribute("subject") == "1")
        #expect(told[0].attribute("specversion") == "1.0" && told[0].attribute("source") == "/apus/apus.outcomes")
        #expect(outcomes[0].message.properties.messageID == told[0].attribute("id"))
        #expect(actions.settles.isEmpty)
        machine.publishEnded(outcomes[0].identifier, .confirmed, into: &actions)
        #expect(actions.settles.isEmpty)
        machine.publishEnded(outcomes[1].identifier, .confirmed, into: &actions)
        #expect(actions.settles.count == 1 && actions.outcomesPublished == 2 && machine.jobCount == 0)
    }

    @Test("A dead token is removed when its backend has been told, and at once if nobody is to be told")
    mutating func deadToken() throws {
        let sends = send(to: ["a"])
        answer(sends[0], 410, "Unregistered")
        #expect(actions.deadTokens.isEmpty, "a killed worker must find the device again")
        machine.publishEnded(try #require(takePublishes().first).identifier, .confirmed, into: &actions)
        #expect(actions.deadTokens.map(\.token.bytes) == [Array("a".utf8)] && actions.settles.count == 1)
        answer(send(to: ["b"], hearing: .accepted, number: 2)[0], 410, "Unregistered")
        #expect(actions.deadTokens.map(\.token.bytes) == [Array("a".utf8), Array("b".utf8)])
    }

    @Test("A dead token that the registry does not remove is told of as rejected")
    mutating func rejected() throws {
        let since: Int64 = 1_000
        func device(_ name: String, registeredAt: Int64?) -> Recipient {
            var device = Samples.device(name)
            device.registration = registeredAt.map { TokenRegistration(atMilliseconds: $0) }
            return device
        }
        let unregistered = Recipient(unregistered: try #require(DeviceToken(hexadecimal: "aa01")), app: "chat")
        let devices = [
            device("before", registeredAt: since - 1), device("at", registeredAt: since), unregistered,
            device("unknown", registeredAt: nil),
        ]
        machine.jobArrived(
            Samples.job(devices: devices, apps: [Samples.app(hearing: Self.all)]), into: &actions)
        machine.sendWaiting(at: Samples.moment(milliseconds), into: &actions)
        for send in actions.sends {
            let dead = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: since)
            machine.pushEnded(
                AttemptResult(identifier: send.identifier, outcome: .answered(dead), durationNanoseconds: 0),
                at: Samples.moment(milliseconds), into: &actions)
        }
        let told = takePublishes().map(Outcome.init)
        #expect(told.map(\.routingKey) == ["token-dead.push.requested.chat", "rejected.push.requested.chat"])
        #expect(told.map(\.deviceIDs) == [["before", "unknown"], ["at", "aa01"]])
        #expect(told.allSatisfy { Set($0.reasons) == ["Unregistered"] })
    }

    @Test("The body has the event, and for each push its device, service, identifier, reason and end")
    mutating func body() throws {
        milliseconds = 5_000
        let sends = send(to: ["a"])
        answer(sends[0], 410, "Unregistered")
        let text = Outcome(try #require(takePublishes().first)).text
        #expect(
            text == """
                {"outcome":"token-dead","app":"chat","event":{"source":"test","id":"1","type":"push.requested",\
                "publishedAtMs":0,"firstSeenAtMs":0},"attempt":1,"pushes":[{"deviceId":"a","platform":"APNS",\
                "pushId":"\(sends[0].apnsID)","sends":1,"reason":"Unregistered","endedAtMs":5000}]}
                """)
    }

    @Test("The body names the campaign, the owner of a device and the subscription, where there are any")
    mutating func names() throws {
        var device = Samples.device("a")
        device.registration = TokenRegistration(identityID: "us-east-1:85f3", userID: "mei", atMilliseconds: 1)
        let base = Samples.job(devices: [device], apps: [Samples.app(hearing: .accepted)])
        var rendering = base.renderings[0]
        rendering.subscriptionID = "cheap"
        machine.jobArrived(
            DispatchJob(
                tags: base.tags, message: base.message, retryState: base.retryState, identity: base.identity,
                event: Samples.event(Samples.delivery(number: 1), campaign: "spring-sale"), renderings: [rendering],
                devices: [device]), into: &actions)
        machine.sendWaiting(at: Samples.moment(milliseconds), into: &actions)
        answer(actions.sends[0], 200)
        let told = try #require(takePublishes().first)
        let text = Outcome(told).text
        #expect(text.contains(#""firstSeenAtMs":0,"campaign":"spring-sale"}"#))
        #expect(text.contains(#""identityId":"us-east-1:85f3","userId":"mei","subscriptionId":"cheap""#))
        let report = try OutcomeReport(told.message)
        #expect(report.eventCampaign == "spring-sale" && report.pushes.first?.subscriptionID == "cheap")
    }

    @Test("The pushes of two subscriptions to one device have identifiers of their own")
    mutating func subscriptions() throws {
        var identifiers: Set<String?> = []
        for subscription in ["cheap", "near", nil] {
            let base = Samples.job(devices: [Samples.device("a")], apps: [Samples.app(hearing: .accepted)])
            var rendering = base.renderings[0]
            rendering.subscriptionID = subscription
            machine.jobArrived(
                DispatchJob(
                    tags: base.tags, message: base.message, retryState: base.retryState, identity: base.identity,
                    event: Samples.event(Samples.delivery(number: 1)), renderings: [rendering],
                    devices: base.devices), into: &actions)
            machine.sendWaiting(at: Samples.moment(milliseconds), into: &actions)
            answer(try #require(actions.sends.first), 200)
            actions.sends = []
            identifiers.insert(try #require(takePublishes().first).message.properties.messageID)
        }
        #expect(identifiers.count == 3)
    }

    @Test("A backend that asked for nothing, or for other outcomes, is told nothing")
    mutating func asked() {
        for request in send(to: ["a"], hearing: []) { answer(request, 200) }
        for request in send(to: ["b"], hearing: .tokenDead, number: 2) { answer(request, 200) }
        #expect(actions.publishes.isEmpty && actions.settles.count == 2)
    }

    @Test("A push that waits for a retry is told of beside its requeued copy, and both are awaited")
    mutating func retrying() throws {
        let sends = send(to: ["a"])
        answer(sends[0], 429, "TooManyRequests")
        let publishes = takePublishes()
        #expect(publishes.map(\.routingKey) == ["retry.1s", "retrying.push.requested.chat"])
        #expect(Outcome(publishes[1]).reasons == ["throttled"])
        machine.publishEnded(publishes[1].identifier, .confirmed, into: &actions)
        #expect(actions.settles.isEmpty)
        machine.publishEnded(publishes[0].identifier, .confirmed, into: &actions)
        #expect(actions.settles.count == 1)
    }

    @Test("A dead letter and an expired push are told of")
    mutating func otherEndings() {
        let sends = send(to: ["a"])
        answer(sends[0], 413, "PayloadTooLarge")
        #expect(
            takePublishes().map(\.routingKey) == ["dead", "dead-lettered.push.requested.chat"])
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.expiresAt = WallTime(milliseconds: 1)
        machine.jobArrived(
            Samples.job(
                number: 2, devices: [Samples.device("b")], apps: [Samples.app(hearing: .expired)],
                retryState: retryState), into: &actions)
        machine.sendWaiting(at: Samples.moment(10), into: &actions)
        #expect(takePublishes().map(\.routingKey) == ["expired.push.requested.chat"])
    }

    @Test(
        "A message tells of 500 pushes at most, and its identifier is the same in whatever order they end",
        arguments: [(500, [500]), (501, [500, 1])])
    mutating func bounds(count: Int, told counts: [Int]) {
        let names = (0..<count).map { "device \($0)" }
        var identifiers: [[String?]] = []
        for isReversed in [false, true] {
            let requests = send(to: names, number: 7)
            for request in isReversed ? requests.reversed() : requests { answer(request, 200) }
            let told = takePublishes().map(Outcome.init)
            #expect(told.map(\.deviceIDs.count) == counts)
            identifiers.append(told.map { $0.attribute("id") })
        }
        #expect(identifiers[0] == identifiers[1] && Set(identifiers[0]).count == counts.count)
    }

    @Test("Refused outcomes are published again for ten seconds, then dropped until none is refused for as long")
    mutating func refused() throws {
        func outcome(_ number: UInt64) throws -> OutgoingMessage {
            for request in send(to: ["a"], number: number) { answer(request, 200) }
            return try #require(takePublishes().first)
        }
        let first = try outcome(1)
        machine.publishEnded(first.identifier, .refused, into: &actions)
        #expect(actions.publishesToRepeat.map(\.identifier) == [first.identifier] && actions.settles.isEmpty)
        milliseconds = 9_999
        machine.clocksRead(Samples.moment(milliseconds))
        machine.publishEnded(first.identifier, .refused, into: &actions)
        #expect(actions.publishesToRepeat.count == 2 && actions.outcomesDropped == 0)
        milliseconds = 10_000
        machine.clocksRead(Samples.moment(milliseconds))
        machine.publishEnded(first.identifier, .refused, into: &actions)
        #expect(actions.outcomesDropped == 1 && actions.settles.count == 1)
        #expect(actions.notices == [.outcomesDropping(true, .refused)])
        machine.publishEnded(try outcome(2).identifier, .refused, into: &actions)
        #expect(actions.outcomesDropped == 2 && actions.publishesToRepeat.count == 2, "dropped at once")
        milliseconds = 20_000
        machine.publishEnded(try outcome(3).identifier, .confirmed, into: &actions)
        #expect(actions.notices.last == .outcomesDropping(false, .confirmed))
        machine.publishEnded(try outcome(4).identifier, .refused, into: &actions)
        #expect(actions.publishesToRepeat.count == 3, "patient again")
    }

    @Test("Without the exchange outcomes are dropped, and not even published for ten seconds")
    mutating func missingExchange() throws {
        for request in send(to: ["a"]) { answer(request, 200) }
        machine.publishEnded(try #require(takePublishes().first).identifier, .returned("NOT_FOUND"), into: &actions)
        for request in send(to: ["a"], number: 2) { answer(request, 200) }
        #expect(actions.publishes.isEmpty && actions.settles.count == 2 && actions.outcomesDropped == 2)
        milliseconds = 10_000
        for request in send(to: ["a"], number: 3) { answer(request, 200) }
        let again = try #require(takePublishes().first)
        for request in send(to: ["a"], number: 4) { answer(request, 200) }
        #expect(actions.publishes.isEmpty, "one event is enough to try it")
        machine.publishEnded(again.identifier, .returned("NOT_FOUND"), into: &actions)
        #expect(actions.notices == [.outcomesDropping(true, .returned("NOT_FOUND"))], "it is told once")
        milliseconds = 20_000
        for request in send(to: ["a"], number: 5) { answer(request, 200) }
        machine.publishEnded(try #require(takePublishes().first).identifier, .confirmed, into: &actions)
        #expect(actions.notices.last == .outcomesDropping(false, .confirmed))
        for request in send(to: ["a"], number: 6) { answer(request, 200) }
        #expect(actions.publishes.count == 1)
    }

    @Test("A copy for a retry that the broker takes never makes a dead letter of the event, which the backend is told")
    mutating func rejectedRetry() throws {
        for request in send(to: ["a", "b"]) { answer(request, request.token == Samples.device("a").token ? 429 : 200) }
        let publishes = takePublishes()
        #expect(publishes.count == 3)
        machine.publishEnded(publishes[0].identifier, .rejected("too large"), into: &actions)
        let told = Outcome(try #require(actions.publishes.first))
        #expect(told.routingKey == "dead-lettered.push.requested.chat")
        #expect(told.deviceIDs == ["a"] && told.reasons == ["rejected"])
        for publish in publishes.dropFirst() + takePublishes() {
            machine.publishEnded(publish.identifier, .confirmed, into: &actions)
        }
        #expect(actions.rejections.count == 1 && machine.jobCount == 0)
    }
}
