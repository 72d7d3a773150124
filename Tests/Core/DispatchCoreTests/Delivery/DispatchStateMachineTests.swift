import ChangeEvents
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The life of a delivery")
struct DispatchStateMachineTests {
    private var machine = Samples.machine()
    private var actions = DispatchActions()

    private mutating func send(_ job: DispatchJob, now: Int64 = 0) -> [PushRequest] {
        machine.jobArrived(job, into: &actions)
        machine.sendWaiting(at: Samples.moment(now), into: &actions)
        defer { actions.sends = [] }
        return actions.sends
    }

    private mutating func answer(_ request: PushRequest, _ status: Int, _ reason: String = "", now: Int64 = 0) {
        end(request, .answered(PushAnswer(status: status, reason: reason)), now: now)
    }

    private mutating func end(_ request: PushRequest, _ outcome: AttemptOutcome, now: Int64 = 0) {
        machine.pushEnded(
            AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: 0),
            at: Samples.moment(now), into: &actions)
    }

    private mutating func confirmAll() {
        let publishes = actions.publishes
        actions.publishes = []
        for publish in publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
    }

    @Test("A delivery is settled when its last push is accepted, not before")
    mutating func settledAfterTheLastAnswer() {
        let sends = send(Samples.job(devices: [Samples.device("a"), Samples.device("b")]))
        #expect(sends.count == 2)
        answer(sends[0], 200)
        #expect(actions.settles.isEmpty)
        answer(sends[1], 200)
        #expect(actions.settles == [DeliveryTag(epoch: 1, number: 1)])
        #expect(machine.pushCounts[0].accepted == 2 && machine.pushCounts[0].isBalanced)
    }

    @Test("A device gets its push by the environment that its token belongs to")
    mutating func keepsEnvironmentsApart() {
        let sends = send(
            Samples.job(
                devices: [
                    Samples.device("a"), Samples.device("b", platform: .apnsSandbox),
                    Samples.device("c", platform: .courier),
                ]))
        #expect(
            sends.map(\.route) == [Samples.app.productionRoute, Samples.app.sandboxRoute, Samples.app.courierRoute])
    }

    @Test("A delivery without an audience is settled at once")
    mutating func noAudience() {
        let sends = send(Samples.job(devices: []))
        #expect(sends.isEmpty)
        #expect(actions.settles.count == 1 && machine.jobCount == 0)
    }

    @Test("A push that must wait is requeued for its device alone, and the delivery is settled by the confirm")
    mutating func requeuedAlone() {
        let sends = send(Samples.job(devices: [Samples.device("a"), Samples.device("b")]))
        answer(sends[0], 200)
        answer(sends[1], 429, "TooManyRequests")
        #expect(actions.settles.isEmpty)
        #expect(actions.publishes.map(\.routingKey) == ["retry.1s"])
        let message = actions.publishes[0].message
        #expect(message.header(RetryHeader.devices) == .array([.string("b")]))
        #expect(message.header(RetryHeader.attempt) == .int64(1))
        #expect(message.header(RetryHeader.reason) == .string("throttled"))
        #expect(machine.pushCounts[0].inFlight == 1)
        confirmAll()
        #expect(actions.settles.count == 1)
        #expect(machine.pushCounts[0].requeuedForRetry == 1 && machine.pushCounts[0].isBalanced)
    }

    @Test("A chunk of which a page is a dead letter ends with the pushes of its other pages, and not before")
    mutating func rejectedPageOfChunk() {
        let chunk = DeliveryTag(epoch: 1, number: 7)
        let sends = send(Samples.job(devices: [Samples.device("a")], chunk: chunk))
        machine.deliveryRejected(
            [], message: Samples.delivery().message, retryState: RetryState(of: Samples.delivery(), nowMilliseconds: 0),
            chunk: chunk, reason: "payload-too-large", detail: "", into: &actions)
        #expect(actions.publishes.map(\.routingKey) == ["dead"])
        confirmAll()
        #expect(actions.chunkPagesEnded == [chunk] && actions.settles.isEmpty, "the push of the first page is out")
        answer(sends[0], 200)
        #expect(actions.chunkPagesEnded == [chunk, chunk] && actions.settles.isEmpty)
        #expect(machine.jobCount == 0)
    }

    @Test("A message that no queue takes is published again, and its delivery is kept until one does")
    mutating func refusedPublish() {
        let sends = send(Samples.job(devices: [Samples.device("a")]))
        answer(sends[0], 500)
        let publish = actions.publishes[0]
        machine.publishEnded(publish.identifier, .returned("NO_ROUTE"), into: &actions)
        #expect(actions.settles.isEmpty)
        #expect(actions.publishesToRepeat.map(\.identifier) == [publish.identifier])
        machine.publishEnded(publish.identifier, .confirmed, into: &actions)
        #expect(actions.settles.count == 1)
    }

    @Test(
        "Of what the broker takes no copy, the delivery and those that it stands for are rejected after the last push")
    mutating func rejectedCopies() {
        let delivery = Samples.delivery()
        let tags = [delivery.tag, DeliveryTag(epoch: 1, number: 2)]
        let sends = send(
            DispatchJob(
                tags: tags, message: delivery.message, retryState: RetryState(of: delivery, nowMilliseconds: 0),
                identity: PushIdentity(source: "test", identifier: "1"),
                renderings: [AppRendering(app: Samples.app, content: Samples.content)],
                devices: [Samples.device("a"), Samples.device("b")], continuation: AudienceCursor(position: 9)))
        machine.publishEnded(actions.publishes[0].identifier, .rejected("too large"), into: &actions)
        #expect(actions.rejections.isEmpty && actions.publishesToRepeat.isEmpty, "two pushes are out")
        answer(sends[0], 200)
        answer(sends[1], 429, "TooManyRequests")
        let retry = actions.publishes[1]
        #expect(retry.routingKey == "retry.1s")
        machine.publishEnded(retry.identifier, .rejected("too large"), into: &actions)
        machine.publishEnded(retry.identifier, .rejected("too large"), into: &actions)
        #expect(actions.rejections.map(\.tags) == [tags] && actions.settles.isEmpty)
        #expect(actions.rejections[0].detail.contains("too large"))
        #expect(actions.publishesToRepeat.isEmpty && machine.jobCount == 0)
        #expect(machine.pushCounts[0].deadLettered == 1 && machine.pushCounts[0].isBalanced)
    }

    @Test("A chunk whose page the broker takes no copy of is to be rejected, and an event whose chunk it does not take")
    mutating func rejectedChunks() {
        let chunk = DeliveryTag(epoch: 1, number: 7)
        let sends = send(Samples.job(devices: [Samples.device("a")], chunk: chunk))
        answer(sends[0], 429, "TooManyRequests")
        machine.publishEnded(actions.publishes[0].identifier, .rejected("too large"), into: &actions)
        #expect(actions.chunksRejected.keys.map(\.self) == [chunk] && actions.chunkPagesEnded == [chunk])
        #expect(actions.rejections.isEmpty && actions.settles.isEmpty, "other pages of the chunk may be out")
        let planned = FanOutChunk(number: 1, after: nil, through: nil, deviceCount: 5)
        machine.chunkPlanned(
            FanOutChunkJob(fanOut: 3, chunk: planned), of: 4, message: Samples.delivery().message,
            retryState: RetryState(of: Samples.delivery(), nowMilliseconds: 0), into: &actions)
        machine.publishEnded(actions.publishes[1].identifier, .rejected("too large"), into: &actions)
        #expect(actions.plansRejected.keys.map(\.self) == [4] && actions.chunksConfirmed.isEmpty)
        #expect(actions.publishesToRepeat.isEmpty && machine.jobCount == 0)
    }

    @Test("A dead token is pruned with the time that APNs gave, and the push has ended")
    mutating func deadToken() {
        let sends = send(Samples.job(devices: [Samples.device("a")]))
        end(sends[0], .answered(PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 77)))
        #expect(actions.deadTokens.map(\.deadSinceMilliseconds) == [77])
        #expect(actions.settles.count == 1 && machine.pushCounts[0].tokenDead == 1)
    }

    @Test("A token that has a successor is replaced, and its push was accepted")
    mutating func replacedToken() throws {
        let sends = send(Samples.job(devices: [Samples.device("a")]))
        let successor = try #require(DeviceToken(text: Array("b".utf8)))
        end(sends[0], .answered(PushAnswer(status: 200, successor: successor)))
        #expect(actions.deadTokens.map(\.successor) == [successor])
        #expect(actions.deadTokens.map(\.token) == [Samples.device("a").token])
        #expect(actions.settles.count == 1 && machine.pushCounts[0].accepted == 1)
    }

    @Test("A push that was not processed is resent with the same apns-id until the attempt is spent, then it waits")
    mutating func resend() {
        let first = send(Samples.job(devices: [Samples.device("a")]))[0]
        for _ in 1..<4 {
            end(first, .notProcessed("refused"))
            #expect(actions.sends.map(\.apnsID) == [first.apnsID])
            #expect(actions.sends.map(\.identifier) == [first.identifier])
            actions.sends = []
        }
        end(first, .notProcessed("refused"))
        #expect(actions.sends.isEmpty)
        #expect(actions.publishes[0].message.header(RetryHeader.reason) == .string("unreachable"))
    }

    @Test("A push whose answer was lost is resent once, then it waits")
    mutating func ambiguous() {
        let first = send(Samples.job(devices: [Samples.device("a")]))[0]
        end(first, .ambiguous("deadline"))
        #expect(actions.sends.count == 1)
        actions.sends = []
        end(first, .ambiguous("deadline"))
        #expect(actions.sends.isEmpty && actions.publishes.count == 1)
    }

    @Test("A late result of a push that has ended changes nothing")
    mutating func lateResult() {
        let first = send(Samples.job(devices: [Samples.device("a")]))[0]
        answer(first, 200)
        let ledger = machine.pushCounts[0]
        answer(first, 410)
        #expect(machine.pushCounts[0] == ledger && actions.settles.count == 1 && actions.deadTokens.isEmpty)
    }

    /// Has the key refused for so many devices.
    private mutating func refuse(_ names: [String]) {
        for request in send(Samples.job(number: 100, devices: names.map { Samples.device($0) })) {
            answer(request, 403, "InvalidProviderToken")
        }
    }

    @Test("A wrong key requeues the app's pushes without spending an attempt, and any acceptance ends the wait")
    mutating func wrongKey() {
        refuse(["a", "b"])
        #expect(machine.health.suspendedApps == [0] && machine.health.isEveryKeyRefused)
        let notice = AppHealth.Notice.keyRejected(app: 0, route: 0, origin: "", reason: "InvalidProviderToken")
        #expect(actions.notices == [.health(notice)])
        #expect(actions.publishes[0].message.header(RetryHeader.attempt) == .int64(0))
        let devices = (0..<20).map { Samples.device("c\($0)") }
        let probes = send(Samples.job(number: 2, devices: devices))
        #expect((1..<CredentialMonitor.probesMaximum).contains(probes.count), "the others wait")
        answer(probes[0], 200)
        #expect(machine.health.suspendedApps.isEmpty)
        #expect(send(Samples.job(number: 3, devices: devices)).count == devices.count)
    }

    @Test("One refused address delays no other push, spends its attempts, and ends among the dead letters")
    mutating func refusedAddress() {
        answer(send(Samples.job(number: 1, devices: [Samples.device("good")]))[0], 200)
        answer(send(Samples.job(number: 2, devices: [Samples.device("bad")]))[0], 403, "InvalidProviderToken")
        #expect(machine.health.suspendedApps.isEmpty && actions.notices.isEmpty)
        #expect(actions.publishes[0].message.header(RetryHeader.attempt) == .int64(1))
        #expect(actions.publishes[0].message.header(RetryHeader.reason) == .string("address-refused"))
        #expect(send(Samples.job(number: 3, devices: [Samples.device("other")])).count == 1)
    }

    @Test("A key that is for the other environment only keeps back that environment")
    mutating func refusedEnvironment() {
        let sandbox = Samples.device("phone", platform: .apnsSandbox)
        answer(send(Samples.job(number: 1, devices: [sandbox]))[0], 403, "BadEnvironmentKeyIdInToken")
        #expect(machine.health.suspendedApps == [0])
        let production = send(Samples.job(number: 2, devices: [Samples.device("a"), Samples.device("b")]))
        #expect(production.count == 2)
        for request in production { answer(request, 200) }
        #expect(!machine.health.isEveryKeyRefused)
        #expect(send(Samples.job(number: 3, devices: [sandbox])).isEmpty, "the refused push is no probe at once")
    }

    @Test("A client that fetches its notifications gets them whatever is wrong with the key, and says nothing of it")
    mutating func wrongKeyAndClients() {
        refuse(["a", "a2"])
        let fetched = send(Samples.job(number: 2, devices: [Samples.device("b", platform: .courier)]))
        #expect(fetched.map(\.route) == [Samples.app.courierRoute])
        answer(fetched[0], 200)
        #expect(machine.health.suspendedApps == [0] && machine.pushCounts[0].accepted == 1)
        let probes = send(Samples.job(number: 3, devices: (0..<20).map { Samples.device("c\($0)") }))
        #expect(probes.count < CredentialMonitor.probesMaximum)
    }

    @Test("Clients that fetch their notifications do not speak for tokens that APNs calls bad")
    mutating func badTokensAndClients() {
        let clients = (0..<400).map { Samples.device("client-\($0)", platform: .courier) }
        for request in send(Samples.job(number: 1, devices: clients)) { answer(request, 200) }
        let devices = (0..<40).map { Samples.device("device-\($0)") }
        for request in send(Samples.job(number: 2, devices: devices)) { answer(request, 400, "BadDeviceToken") }
        #expect(actions.deadTokens.isEmpty && machine.health.doubtedApps == [0])
    }

    @Test(
        "Pushes that waited for a stream while the key was found to be wrong are requeued without spending an attempt")
    mutating func wrongKeyWithPushesWaiting() {
        let sends = send(Samples.job(devices: ["a", "b", "c", "d"].map { Samples.device($0) }))
        for request in sends.prefix(2) { answer(request, 403, "InvalidProviderToken") }
        for request in sends.suffix(2) { end(request, .notProcessed("no stream")) }
        #expect(actions.sends.isEmpty, "they do not go out again")
        #expect(actions.publishes.allSatisfy { $0.message.header(RetryHeader.attempt) == .int64(0) })
        confirmAll()
        #expect(machine.pushCounts[0].requeuedForRetry == 4)
    }

    @Test("When most tokens are called bad none is pruned and their pushes wait")
    mutating func badTokens() {
        let devices = (0..<40).map { Samples.device("device-\($0)") }
        for request in send(Samples.job(devices: devices)) { answer(request, 400, "BadDeviceToken") }
        #expect(actions.deadTokens.isEmpty)
        #expect(machine.health.doubtedApps == [0])
        #expect(machine.pushCounts[0].tokenDead == 0 && machine.pushCounts[0].inFlight == devices.count)
    }

    @Test("A token that is called bad twice, while others are accepted, is removed")
    mutating func oneBadToken() {
        let bad = Samples.device("bad")
        answer(send(Samples.job(number: 1, devices: [bad]))[0], 400, "BadDeviceToken")
        #expect(actions.deadTokens.isEmpty && actions.publishes[0].routingKey == "retry.1s")
        answer(send(Samples.job(number: 2, devices: [Samples.device("good")]), now: 1)[0], 200, now: 2)
        answer(send(Samples.job(number: 3, devices: [bad]), now: 3)[0], 400, "BadDeviceToken", now: 4)
        #expect(actions.deadTokens.map(\.token) == [bad.token] && machine.pushCounts[0].tokenDead == 1)
    }

    @Test("A token is found dead for the topic that was asked, whatever its device is", arguments: PushType.allCases)
    mutating func topicOfDeadToken(type: PushType) {
        let sends = send(Samples.job(devices: [Samples.device("a", platform: .apnsSandbox)], pushType: type))
        end(sends[0], .answered(PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 77)))
        let expected = DeadToken(
            app: "chat", platform: .apnsSandbox, kind: type.tokenKind, token: Samples.device("a").token,
            deadSinceMilliseconds: 77)
        #expect(actions.deadTokens == [expected])
    }

    @Test("Tokens that are bad for one topic raise no doubt about another")
    mutating func badTokensOfOneTopic() {
        let calls = (0..<40).map { Samples.device("call-\($0)") }
        for request in send(Samples.job(number: 1, devices: calls, pushType: .voip)) {
            answer(request, 400, "DeviceTokenNotForTopic")
        }
        #expect(actions.deadTokens.isEmpty)
        #expect(
            actions.notices == [.health(.suspectConfiguration(app: 0, kind: .voip, reason: "DeviceTokenNotForTopic"))])
        let devices = (0..<40).map { Samples.device("device-\($0)") }
        for number in 2...3 as ClosedRange<UInt64> {
            let alerts = send(Samples.job(number: number, devices: devices), now: Int64(number))
            answer(alerts[39], 400, "BadDeviceToken", now: Int64(number))
            for request in alerts.dropLast() { answer(request, 200, now: Int64(number)) }
            for request in send(Samples.job(number: 9, devices: [devices[0]]), now: Int64(number) + 1) {
                answer(request, 200, now: Int64(number) + 1)
            }
        }
        #expect(actions.deadTokens.map(\.kind) == [.alert])
    }

    @Test("The rest of a large audience is handed on before its page is settled")
    mutating func continuation() {
        let sends = send(Samples.job(devices: [Samples.device("a")], continuation: AudienceCursor(position: 9)))
        #expect(actions.publishes.map(\.routingKey) == ["fanout"])
        #expect(actions.publishes[0].message.header(RetryHeader.cursor) == .int64(9))
        answer(sends[0], 200)
        #expect(actions.settles.isEmpty)
        confirmAll()
        #expect(actions.settles.count == 1)
    }

    @Test("A chunk that has to wait stays what it is, spends nothing, and is settled by the confirm of its copy")
    mutating func heldBackChunk() {
        let delivery = Samples.delivery()
        var retryState = RetryState(of: delivery, nowMilliseconds: 0)
        retryState.cursor = AudienceCursor(position: 9)
        let chunk = FanOutChunk(
            number: 2, after: retryState.cursor, through: AudienceCursor(position: 20), deviceCount: 5)
        retryState.chunk = FanOutChunkJob(fanOut: 3, chunk: chunk)
        retryState.expiresAt = WallTime(milliseconds: 1)
        let isDeferred = machine.deferDelivery(
            delivery.tag, message: delivery.message, retryState: retryState, .congested, at: Samples.moment(2),
            into: &actions)
        #expect(isDeferred && actions.settles.isEmpty)
        #expect(actions.publishes.map(\.routingKey) == ["retry.1m"])
        var copy = delivery
        copy.message = actions.publishes[0].message
        copy.exchange = ""
        confirmAll()
        #expect(actions.settles == [delivery.tag])
        retryState.deferredMilliseconds = 60_000
        retryState.isRequeuedCopy = true
        let history = RetryState(of: copy, nowMilliseconds: 60_002)
        #expect(history == retryState && history.isBulk)
        machine.bulkDeliveryInWorkQueue(copy.tag, message: copy.message, retryState: history, into: &actions)
        #expect(actions.publishes.map(\.routingKey) == ["fanout"] && actions.settles.count == 1)
        copy.message = actions.publishes[0].message
        var moved = history
        moved.hops = 1
        #expect(RetryState(of: copy, nowMilliseconds: 60_003) == moved)
        confirmAll()
        #expect(actions.settles.count == 2 && machine.jobCount == 0)
        #expect(machine.pushCounts.allSatisfy { $0 == PushCounts() })
    }

    /// A chunk that came to a work queue, as it is after so many hops to the fan-out queue.
    private mutating func hop(_ delivery: Delivery, times: Int) -> Delivery {
        var delivery = delivery
        for _ in 0..<times {
            let retryState = RetryState(of: delivery, nowMilliseconds: 0)
            machine.bulkDeliveryInWorkQueue(
                delivery.tag, message: delivery.message, retryState: retryState, into: &actions)
            delivery.message = actions.publishes[0].message
            if actions.publishes[0].routingKey != "fanout" { break }
            confirmAll()
        }
        return delivery
    }

    @Test("A chunk that comes back from the fan-out queue again and again, and is never served, becomes a dead letter")
    mutating func circlingChunk() {
        var delivery = Samples.delivery()
        var retryState = RetryState(of: delivery, nowMilliseconds: 0)
        retryState.cursor = AudienceCursor(position: 9)
        delivery.message = retryState.requeuedCopy(of: delivery.message, reason: "fan-out", detail: "")
        delivery.exchange = ""
        delivery = hop(delivery, times: 100)
        #expect(actions.publishes.map(\.routingKey) == ["dead"])
        #expect(actions.settles.count == DispatchStateMachine.hopsMaximum)
        let letter = actions.publishes[0].message
        #expect(letter.header(RetryHeader.reason) == .string("misrouted"))
        #expect(letter.header(RetryHeader.hops) == nil, "a replay begins to count anew")
        confirmAll()
        #expect(actions.settles.count == DispatchStateMachine.hopsMaximum + 1 && machine.jobCount == 0)
        #expect(machine.pushCounts.allSatisfy { $0 == PushCounts() })
    }

    @Test("A chunk that is deferred in between may come to the fan-out queue as often as it has to")
    mutating func deferredChunk() {
        var delivery = Samples.delivery()
        var retryState = RetryState(of: delivery, nowMilliseconds: 0)
        retryState.cursor = AudienceCursor(position: 9)
        delivery.message = retryState.requeuedCopy(of: delivery.message, reason: "fan-out", detail: "")
        delivery.exchange = ""
        for _ in 0..<10 {
            delivery = hop(delivery, times: DispatchStateMachine.hopsMaximum)
            #expect(actions.publishes.isEmpty, "all were moved and confirmed")
            let isDeferred = machine.deferDelivery(
                delivery.tag, message: delivery.message, retryState: RetryState(of: delivery, nowMilliseconds: 0),
                .congested, at: Samples.moment(0), into: &actions)
            #expect(isDeferred && actions.publishes.map(\.routingKey) == ["retry.1m"])
            delivery.message = actions.publishes[0].message
            confirmAll()
        }
    }

    @Test("A device of an unknown app goes to the dead letters and the others are served")
    mutating func unknownApp() {
        let sends = send(Samples.job(devices: [Samples.device("a"), Samples.device("b", app: "other")]))
        #expect(sends.count == 1)
        answer(sends[0], 200)
        #expect(actions.publishes.map(\.routingKey) == ["dead"])
        confirmAll()
        let unbalanced = machine.pushCounts.filter { !$0.isBalanced }
        #expect(unbalanced.isEmpty && actions.settles.count == 1)
    }

    @Test("A broken event goes to the dead letters with its reason, its body and its own headers intact")
    mutating func brokenEvent() {
        let own = MessageHeader("tenant", .uint16(7))
        let delivery = Samples.delivery(headers: [own], body: "broken")
        machine.deliveryRejected(
            [delivery.tag], message: delivery.message, retryState: RetryState(of: delivery, nowMilliseconds: 5),
            reason: "invalid-json", detail: "byte 0", into: &actions)
        let message = actions.publishes[0].message
        #expect(message.body == Array("broken".utf8))
        #expect(message.header("tenant") == .uint16(7))
        #expect(message.header(RetryHeader.reason) == .string("invalid-json"))
        #expect(message.header(RetryHeader.firstSeenMilliseconds) == .int64(5))
        #expect(message.header(RetryHeader.originalExchange) == .string("apus.changes"))
        confirmAll()
        #expect(actions.settles == [delivery.tag])
    }

    @Test("What arrives, and what is decided of it, happens when the clocks were read last")
    mutating func clocksRead() {
        let delivery = Samples.delivery()
        machine.clocksRead(Samples.moment(9_000))
        machine.deliveryRejected(
            [delivery.tag], message: delivery.message, retryState: RetryState(of: delivery, nowMilliseconds: 5),
            reason: "invalid-json", detail: "byte 0", into: &actions)
        let letter = actions.publishes[0].message
        #expect(letter.header(RetryHeader.deadLetteredMilliseconds) == .int64(9_000))
    }

    @Test("An expired push is not sent")
    mutating func expired() {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.expiresAt = .earliest
        let sends = send(Samples.job(devices: [Samples.device("a")], retryState: retryState))
        #expect(sends.isEmpty)
        #expect(machine.pushCounts[0].expired == 1 && actions.settles.count == 1)
    }

    @Test("After the last attempt a push is a dead letter")
    mutating func exhausted() {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.attempt = 2
        let sends = send(Samples.job(devices: [Samples.device("a")], retryState: retryState))
        answer(sends[0], 429)
        #expect(actions.publishes.map(\.routingKey) == ["dead"])
        #expect(actions.publishes[0].message.header(RetryHeader.attempt) == .int64(3))
        #expect(actions.publishes[0].message.header(RetryHeader.reason) == .string("attempts-exhausted"))
    }

    @Test("No more pushes are out than the limit, and the rest follows as answers come")
    mutating func limit() {
        var limits = DispatchLimits()
        limits.pushesInFlightMaximum = 3
        machine = Samples.machine(limits: limits)
        var out = send(Samples.job(devices: (0..<10).map { Samples.device("device-\($0)") }))
        var total = out.count
        while let request = out.popLast() {
            #expect(machine.pushesInFlight <= 3)
            answer(request, 200)
            machine.sendWaiting(at: Samples.moment(0), into: &actions)
            total += actions.sends.count
            out += actions.sends
            actions.sends = []
        }
        #expect(total == 10 && actions.settles.count == 1 && !machine.isSaturated(.interactive))
    }
}
