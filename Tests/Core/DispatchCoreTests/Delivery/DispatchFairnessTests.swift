import ChangeEvents
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Apps and delivery classes side by side")
struct DispatchFairnessTests {
    private var machine: DispatchStateMachine
    private var actions = DispatchActions()
    private var nextDelivery: UInt64 = 0
    private var now: Int64 = 0

    init() {
        var limits = DispatchLimits()
        limits.pushesInFlightMaximum = 400
        limits.devicesWaitingMaximum = 4_000
        limits.unsettledDeliveriesMaximum = 100
        machine = Samples.machine(limits: limits, appCount: 2)
    }

    private mutating func arrive(
        _ app: AppRoute, devices: Int, deliveryClass: DeliveryClass = .interactive, platform: Platform = .apns,
        retryState: RetryState? = nil
    ) {
        nextDelivery += 1
        let devices = (0..<devices).map { Samples.device("\(nextDelivery)-\($0)", app: app.name, platform: platform) }
        machine.jobArrived(
            Samples.job(
                number: nextDelivery, devices: devices, deliveryClass: deliveryClass, apps: [app],
                retryState: retryState),
            into: &actions)
    }

    /// Sends what may be sent.
    private mutating func send() -> [PushRequest] {
        actions.sends = []
        machine.sendWaiting(at: Samples.moment(now), into: &actions)
        defer { actions.sends = [] }
        return actions.sends
    }

    private mutating func end(
        _ requests: some Sequence<PushRequest>, _ outcome: AttemptOutcome? = nil, afterMilliseconds delay: UInt64 = 0
    ) {
        for request in requests {
            let outcome = outcome ?? .answered(PushAnswer(status: 200))
            machine.pushEnded(
                AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: delay * 1_000_000),
                at: Samples.moment(now), into: &actions)
        }
    }

    private mutating func confirmAll() {
        let publishes = actions.publishes
        actions.publishes = []
        for publish in publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
    }

    private func count(_ requests: [PushRequest], of app: AppRoute) -> Int {
        requests.count { $0.route == app.productionRoute }
    }

    // MARK: Round robin

    @Test("An app with a hundred times as much to do gets no more than the other, as long as both have something")
    mutating func turns() {
        for _ in 0..<100 { arrive(Samples.app, devices: 100) }
        arrive(Samples.mail, devices: 1_000)
        var sent = [0, 0]
        while sent[1] < 1_000 {
            let requests = send()
            sent[0] += count(requests, of: Samples.app)
            sent[1] += count(requests, of: Samples.mail)
            end(requests)
        }
        #expect(sent[0] <= 1_000 + 400, "one window went out before the other app came")
        while machine.jobCount > 0 { end(send()) }
        #expect(machine.pushCounts[0].accepted == 10_000, "the noisy one is delayed, not dropped")
    }

    @Test("An app whose pushes are not answered fills its share and leaves the rest to the others")
    mutating func unanswered() {
        for _ in 0..<10 { arrive(Samples.app, devices: 100) }
        let stuck = send()
        #expect(stuck.count == 300)
        var delivered = 0
        for _ in 0..<50 {
            arrive(Samples.mail, devices: 50)
            let requests = send()
            delivered += count(requests, of: Samples.mail)
            end(requests.filter { $0.route == Samples.mail.productionRoute })
        }
        #expect(delivered == 2_500)
    }

    @Test("An event for the devices of two apps goes on with each in its turn, and every device gets one push")
    mutating func mixed() {
        for _ in 0..<20 { arrive(Samples.app, devices: 100) }
        nextDelivery += 1
        let devices = (0..<100).map { Samples.device("m\($0)", app: $0.isMultiple(of: 2) ? "chat" : "mail") }
        machine.jobArrived(
            Samples.job(number: nextDelivery, devices: devices, apps: [Samples.app, Samples.mail]), into: &actions)
        var tokens: [DeviceToken] = []
        while machine.jobCount > 0 {
            let requests = send()
            tokens += requests.map(\.token)
            end(requests)
        }
        #expect(tokens.count == 2_100 && Set(tokens).count == 2_100)
        #expect(machine.pushCounts[1].accepted == 50 && machine.pushCounts.allSatisfy { $0.isBalanced })
    }

    @Test("What a slow app has waiting does not keep the worker from taking in more")
    mutating func saturation() {
        for _ in 0..<45 { arrive(Samples.app, devices: 100) }
        _ = send()
        #expect(machine.isSaturated(.interactive))
        now += AppHealth.patienceMilliseconds + 1
        _ = send()
        #expect(machine.health.slowApps == [0])
        #expect(!machine.isSaturated(.interactive))
    }

    // MARK: Delivery classes

    @Test("A large fan-out takes all of the window while it is alone, and what is left over while small events come")
    mutating func classes() {
        arrive(Samples.app, devices: 10_000, deliveryClass: .bulk)
        let alone = send()
        #expect(alone.count >= 300)
        end(alone)
        arrive(Samples.app, devices: 1)
        let restricted = send()
        #expect(restricted.count <= 1 + 400 / 8)
        #expect(restricted.first?.token == Samples.device("2-0").token, "the small event goes first")
        end(restricted)
        now += 500
        let kept = send().count
        #expect(kept <= 100, "the next small event may come at any time")
        now += 1_000
        let freed = send().count
        #expect(freed >= 200, "none came")
    }

    @Test("Small events have a window of their own, however much of a fan-out is out")
    mutating func ownWindow() {
        arrive(Samples.app, devices: 10_000, deliveryClass: .bulk)
        _ = send()
        #expect(machine.isSaturated(.bulk) && !machine.isSaturated(.interactive))
        arrive(Samples.app, devices: 100)
        let sent = send().count
        #expect(sent >= 100)
    }

    /// Sends small events and a fan-out side by side for some rounds.
    ///
    /// - Returns: how many pushes went out in the last round.
    private mutating func sendSideBySide(afterMilliseconds delay: UInt64, rounds: Int = 40) -> Int {
        var last = 0
        for _ in 0..<rounds {
            arrive(Samples.app, devices: 1)
            var requests = send()
            for _ in 0..<delay {
                now += 1
                requests += send()
            }
            last = requests.count
            end(requests, afterMilliseconds: delay)
        }
        return last
    }

    @Test("A fan-out gives way when answers begin to take longer, and takes more again when they are quick")
    mutating func givesWay() {
        arrive(Samples.app, devices: 40_000, deliveryClass: .bulk)
        let quick = sendSideBySide(afterMilliseconds: 2)
        #expect(quick > 300)
        let slow = sendSideBySide(afterMilliseconds: 20)
        #expect(slow < 20)
        let quickAgain = sendSideBySide(afterMilliseconds: 2, rounds: 120)
        #expect(quickAgain > 300)
    }

    @Test("Beside small events a fan-out goes out evenly, and not a whole window at once")
    mutating func evenly() {
        arrive(Samples.app, devices: 40_000, deliveryClass: .bulk)
        let inAll = sendSideBySide(afterMilliseconds: 20)
        #expect(inAll > 300)
        arrive(Samples.app, devices: 1)
        var counts: [Int] = []
        for _ in 0..<10 {
            now += 1
            counts.append(send().count)
            #expect(machine.isBulkPaced)
        }
        #expect(counts.allSatisfy { $0 > 0 && $0 <= 1 + 2 * 400 * 5 / 4 / 20 }, "\(counts)")
    }

    @Test("Only answers of APNs tell how long its way is: clients without it are served at once")
    mutating func otherWays() {
        arrive(Samples.app, devices: 200, deliveryClass: .bulk, platform: .courier)
        end(send())
        arrive(Samples.app, devices: 20_000, deliveryClass: .bulk)
        let sent = sendSideBySide(afterMilliseconds: 50)
        #expect(sent > 300)
    }

    // MARK: Slow apps

    @Test("A slow app's deliveries beyond its share are requeued without an attempt, and taken again when it is quick")
    mutating func slowApp() {
        for _ in 0..<60 { arrive(Samples.app, devices: 1) }
        let stuck = send()
        #expect(stuck.count == 60)
        now += AppHealth.patienceMilliseconds + 1
        arrive(Samples.app, devices: 1)
        _ = send()
        now += AppHealth.patienceMilliseconds + 1
        for _ in 0..<10 { arrive(Samples.app, devices: 1) }
        let held = send()
        #expect(held.isEmpty)
        let requeued = actions.publishes
        #expect(requeued.count == 10)
        #expect(requeued.allSatisfy { $0.message.header(RetryHeader.reason) == .string("congested") })
        #expect(requeued.allSatisfy { $0.message.header(RetryHeader.attempt) == .int64(0) })
        arrive(Samples.mail, devices: 5)
        let others = send()
        #expect(others.count == 5, "others are not held back")
        confirmAll()
        end(stuck)
        arrive(Samples.app, devices: 1)
        let taken = send()
        #expect(taken.count == 1)
        #expect(machine.pushCounts.allSatisfy { $0.isBalanced })
    }

    @Test("An app that is never answered is noticed before it holds everything, while the other goes on")
    mutating func silentApp() {
        var others = 0
        for _ in 0..<200 {
            arrive(Samples.app, devices: 1)
            arrive(Samples.mail, devices: 1)
            let requests = send()
            let answered = requests.filter { $0.route == Samples.mail.productionRoute }
            others += answered.count
            end(answered)
            now += 5
        }
        #expect(others == 200)
        #expect(machine.health.slowApps == [0])
        // Growing by one in 5 ms, it may be silent for as long as it takes to hold half of the hundred; and its silence
        // counts as soon as so many of the others have ended.
        let heldMaximum = max(50, AppBacklog.othersEndedLeast + 1)
        #expect(machine.pushesInFlight <= heldMaximum && machine.jobCount == 200)
        #expect(actions.publishes.count == 200 - machine.pushesInFlight)
    }

    @Test(
        "What a slow app holds for too long is requeued and let go of, once, and an answer that comes late is nothing")
    mutating func abandoned() {
        for _ in 0..<60 { arrive(Samples.app, devices: 1) }
        let stuck = send()
        now += AppHealth.patienceMilliseconds + 1
        _ = send()
        #expect(machine.health.slowApps == [0] && actions.publishes.isEmpty, "perhaps the worker has stood still")
        now += 1_000
        _ = send()
        let requeued = actions.publishes
        #expect(requeued.count == 60)
        #expect(requeued.allSatisfy { $0.message.header(RetryHeader.reason) == .string("unanswered") })
        confirmAll()
        #expect(actions.settles.count == 60 && machine.jobCount == 0)
        #expect(machine.pushesInFlight == 60, "their streams are still open")
        end(stuck)
        #expect(machine.pushesInFlight == 0 && machine.health.slowApps.isEmpty)
        #expect(machine.pushCounts[0].requeuedForRetry == 60 && machine.pushCounts.allSatisfy { $0.isBalanced })
        arrive(Samples.app, devices: 1)
        let taken = send()
        #expect(taken.count == 1)
    }

    @Test("A device was told of a sync count if a push of it is accepted after it was given up, and at no other time")
    mutating func lateAcceptance() throws {
        let change = DatasetChange(
            operation: .changed,
            key: DatasetKey(identityPoolID: "pool", identityID: "identity", datasetName: "notes"), syncCount: 7,
            deviceID: nil)
        let announcement = try #require(
            DatasetAnnouncement(change, source: "test", identifier: "1", firstSeen: .earliest))
        for number in 0..<60 {
            let job = Samples.job(number: UInt64(number + 1), devices: [Samples.device("device \(number)")])
            machine.jobArrived(
                DispatchJob(
                    tags: job.tags, message: job.message, retryState: job.retryState, identity: job.identity,
                    renderings: job.renderings, devices: job.devices, announcement: announcement),
                into: &actions)
        }
        let stuck = send()
        for _ in 0..<7 {
            now += 1_000
            _ = send()
        }
        confirmAll()
        #expect(actions.settles.count == 60 && actions.told.isEmpty)
        end(stuck.prefix(1))
        end(stuck.dropFirst().prefix(1), .ambiguous("the connection was lost"))
        #expect(actions.told.map(\.deviceID) == ["device 0"])
    }

    @Test("A push of a large fan-out is never given up, however slow its app is with small events")
    mutating func fanOutIsKept() {
        arrive(Samples.app, devices: 100, deliveryClass: .bulk)
        for _ in 0..<60 { arrive(Samples.app, devices: 1) }
        _ = send()
        for _ in 0..<8 {
            now += 1_000
            _ = send()
        }
        confirmAll()
        #expect(machine.jobCount == 1 && machine.pushCounts[0].requeuedForRetry == 60)
    }

    @Test("The only app is never called slow: nobody would gain by it")
    mutating func alone() {
        machine = Samples.machine(appCount: 1)
        for _ in 0..<2_000 { arrive(Samples.app, devices: 10) }
        _ = send()
        now += 60_000
        arrive(Samples.app, devices: 1)
        _ = send()
        #expect(actions.publishes.isEmpty && machine.health.slowApps.isEmpty)
    }

    // MARK: Outage

    @Test("While a route leads nowhere its pushes are requeued at once, and neither attempts nor age are spent")
    mutating func unreachable() {
        machine.routeChanged(Samples.app.productionRoute, isReachable: false)
        machine.routeChanged(Samples.mail.productionRoute, isReachable: true)
        #expect(!machine.health.isEverythingUnreachable)
        arrive(Samples.app, devices: 2)
        arrive(Samples.mail, devices: 2)
        let sent = send()
        #expect(sent.map(\.route) == [Samples.mail.productionRoute, Samples.mail.productionRoute])
        let requeued = actions.publishes
        #expect(requeued.count == 1)
        #expect(requeued.first?.message.header(RetryHeader.attempt) == .int64(0))
        #expect(requeued.first?.message.header(RetryHeader.heldMilliseconds) == .int64(60_000))
        machine.routeChanged(Samples.app.productionRoute, isReachable: true)
        arrive(Samples.app, devices: 2)
        let resumed = send()
        #expect(resumed.count == 2)
    }

    @Test("A push that comes back when its route has gone is not sent again but requeued, unspent")
    mutating func lostOnTheWay() {
        arrive(Samples.app, devices: 2)
        let requests = send()
        machine.routeChanged(Samples.app.productionRoute, isReachable: false)
        end([requests[0]], .notProcessed("no stream"))
        end([requests[1]], .ambiguous("connection lost"))
        #expect(actions.sends.isEmpty)
        #expect(actions.publishes.count == 1, "both fail in the same way, so one message has both")
        #expect(actions.publishes.first?.message.header(RetryHeader.attempt) == .int64(0))
        confirmAll()
        #expect(actions.settles.count == 1)
    }

    @Test("Nothing is reachable when no route is known to be reachable, and one is known not to be")
    mutating func everything() {
        #expect(!machine.health.isEverythingUnreachable)
        machine.routeChanged(0, isReachable: false)
        #expect(machine.health.isEverythingUnreachable)
        machine.routeChanged(2, isReachable: true)
        #expect(!machine.health.isEverythingUnreachable)
        machine.routeChanged(2, isReachable: false)
        #expect(machine.health.isEverythingUnreachable)
        machine.routeChanged(0, isReachable: true)
        #expect(!machine.health.isEverythingUnreachable)
    }

    // MARK: Expiry

    @Test("A push whose time passes while it waits for APNs is not sent again, and counts as expired")
    mutating func expiresWhileOut() {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.expiresAt = WallTime(milliseconds: 10_000)
        arrive(Samples.app, devices: 2, retryState: retryState)
        let requests = send()
        now = 10_000
        end([requests[0]], .notProcessed("no stream"))
        end([requests[1]], .ambiguous("deadline"))
        #expect(actions.sends.isEmpty && actions.publishes.isEmpty)
        #expect(machine.pushCounts[0].expired == 2 && machine.jobCount == 0)
    }

    @Test("A push that would come back too late from a retry queue expires at once, also in an outage")
    mutating func expiresInAnOutage() {
        var retryState = RetryState(of: Samples.delivery(), nowMilliseconds: 0)
        retryState.expiresAt = WallTime(milliseconds: 20_000)
        machine.routeChanged(Samples.app.productionRoute, isReachable: false)
        arrive(Samples.app, devices: 3, retryState: retryState)
        let sent = send()
        #expect(sent.isEmpty && actions.publishes.isEmpty)
        #expect(machine.pushCounts[0].expired == 3 && machine.jobCount == 0)
    }
}
