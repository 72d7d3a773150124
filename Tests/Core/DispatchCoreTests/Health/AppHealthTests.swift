import Essentials
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The health of apps")
struct AppHealthTests {
    private var health: AppHealth
    private var now: Int64 = 1_000_000

    init() {
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = 100
        limits.devicesWaitingMaximum = 1_000
        health = AppHealth(appCount: 2, limits: limits)
    }

    private var moment: MonotonicTime { Samples.monotonic(now) }

    /// Asks for a verdict about a push on the route of its app.
    private mutating func verdict(app: Int, asksService: Bool = true) -> Disposition.RetryCause? {
        health.deferral(of: token, app: app, route: app, asksService: asksService, at: moment)?.cause
    }

    private let token = Samples.device("phone").token

    private mutating func refuse(app: Int) {
        for name in ["a", "b"] {
            _ = health.keyWasRejected(
                Samples.device(name).token, app: app, route: app, reason: "InvalidToken", at: moment)
        }
    }

    // MARK: Verdicts

    @Test("An app of which nothing is known may send, and nothing is said of it")
    mutating func wellAtFirst() {
        let verdict = verdict(app: 0)
        #expect(verdict == nil && health.notices.isEmpty && !health.isEverythingUnreachable && !health.isWatching)
        #expect(health.maySendAgain(token, app: 0, route: 0, asksService: true))
    }

    @Test("A route that leads nowhere requeues its pushes, and each change is told once")
    mutating func unreachable() {
        health.routeChanged(1, isReachable: true)
        for _ in 0..<3 { health.routeChanged(0, isReachable: false) }
        let verdicts = [verdict(app: 0), verdict(app: 0, asksService: false), verdict(app: 1)]
        #expect(verdicts == [.unreachable, .unreachable, nil])
        #expect(!health.maySendAgain(token, app: 0, route: 0, asksService: false) && health.isUnreachable(route: 0))
        for _ in 0..<3 { health.routeChanged(0, isReachable: true) }
        #expect(health.notices == [.unreachable(route: 0), .reachable(route: 0)])
        #expect(!health.isUnreachable(route: 0))
    }

    @Test("A refused key requeues what goes to APNs, but for few probes, and each change is told once")
    mutating func refusedKey() {
        for _ in 0..<3 { refuse(app: 0) }
        let others = [verdict(app: 0, asksService: false), verdict(app: 1)]
        #expect(others == [nil, nil] && health.suspendedApps == [0] && health.isEveryKeyRefused)
        let probes = (0..<20).map { _ in verdict(app: 0) }
        #expect(probes.contains(.keyRejected) && !health.maySendAgain(token, app: 0, route: 0, asksService: true))
        for _ in 0..<3 { health.keyWasAccepted(token, app: 0, route: 0, at: moment) }
        let accepted = verdict(app: 0)
        #expect(accepted == nil && health.suspendedApps.isEmpty && !health.isEveryKeyRefused)
        #expect(
            health.notices == [
                .keyRejected(app: 0, route: 0, origin: "", reason: "InvalidToken"),
                .keyAccepted(app: 0, route: 0, origin: ""),
            ])
    }

    @Test("A route that leads nowhere uses up no probe of a key")
    mutating func probeIsKept() {
        refuse(app: 0)
        health.routeChanged(0, isReachable: false)
        let unreachable = Set((0..<100).map { _ in verdict(app: 0) })
        health.routeChanged(0, isReachable: true)
        let probe = verdict(app: 0)
        #expect(unreachable == [.unreachable] && probe == nil)
    }

    private mutating func badToken(_ name: String) -> TokenRejectionMonitor.Verdict {
        health.tokenWasBad(
            Samples.device(name).token, app: 1, route: 1, kind: .voip, reason: "BadDeviceToken", sent: moment,
            at: moment)
    }

    @Test("Tokens in doubt are told of once, until they are good again")
    mutating func tokens() {
        for number in 0..<40 { _ = badToken("\(number)") }
        #expect(health.doubtedApps == [1])
        let notice = AppHealth.Notice.suspectConfiguration(app: 1, kind: .voip, reason: "BadDeviceToken")
        #expect(health.takeNotices() == [notice] && health.notices.isEmpty)
        now += 1
        for _ in 0..<TokenRejectionMonitor.recentMaximum {
            health.tokenWasGood(
                Samples.device("good").token, app: 1, route: 1, kind: .voip, hasOrigin: false, isAccepted: true,
                sent: moment)
        }
        #expect(health.doubtedApps.isEmpty)
        let verdict = badToken("39")
        #expect(verdict == .dead && health.notices.isEmpty)
    }

    // MARK: Slow apps

    private mutating func look() { health.look(devicesWaiting: [0, 0, 0], at: moment) }

    /// Takes so many deliveries of the first app, whose pushes then hang for longer than the patience.
    private mutating func becomeSlow() {
        health.deliveriesArrived(60, app: 0, at: moment)
        look()
        now += AppHealth.patienceMilliseconds + 1
        look()
    }

    @Test("An app that is slow and holds more than its share gets no more, while others do; each time is told once")
    mutating func slow() {
        becomeSlow()
        look()
        #expect(health.slowApps == [0] && health.isWatching)
        let shouldDefer = [0, 1].map { health.shouldDefer(app: $0, devicesWaiting: 0, at: moment) }
        #expect(shouldDefer == [true, false])
        health.deliveriesSettled(60, app: 0, at: moment)
        look()
        #expect(health.slowApps.isEmpty && health.unsettledDeliveries == 0 && !health.isWatching)
        becomeSlow()
        #expect(health.notices == [.slow(app: 0), .slow(app: 0)])
    }

    @Test("A slow app's pushes are overdue after the patience, but not at a look after the worker has stood still")
    mutating func overdue() {
        let sent = moment
        let whileQuick = health.looksForOverduePushes(at: moment)
        becomeSlow()
        let first = health.looksForOverduePushes(at: moment)
        now += 100
        let tooSoon = health.looksForOverduePushes(at: moment)
        now += 400
        let second = health.looksForOverduePushes(at: moment)
        #expect([whileQuick, first, tooSoon, second] == [false, false, false, true])
        now += AppHealth.patienceMilliseconds
        let afterStandstill = health.looksForOverduePushes(at: moment)
        #expect(!afterStandstill)
        #expect(health.isOverdue(app: 0, sent: sent, at: moment) && !health.isOverdue(app: 1, sent: sent, at: moment))
        #expect(!health.isOverdue(app: 0, sent: moment, at: moment))
        health.deliveriesAbandoned(60, app: 0)
        #expect(health.unsettledDeliveriesByApp == [0, 0] && health.unsettledDeliveries == 0)
    }

    @Test("The only app is never slow, and its fan-outs never hang: nobody would gain by it")
    mutating func alone() {
        health = AppHealth(appCount: 1, limits: DispatchLimits())
        let start = moment
        now += 60_000
        let shouldDefer = health.shouldDefer(app: 0, devicesWaiting: .max, at: moment)
        health.look(devicesWaiting: [.max, 0], at: moment)
        let looks = health.looksForOverduePushes(at: moment)
        #expect(!shouldDefer && !looks && health.slowApps.isEmpty && health.notices.isEmpty)
        #expect(!health.isHanging(apps: [0], outSince: start, at: moment))
    }

    // MARK: Fan-outs that hang

    @Test("A fan-out hangs when a page is out and none of its apps has answered anything for the patience")
    mutating func hanging() {
        let start = moment
        now += AppHealth.patienceMilliseconds
        #expect(!health.isHanging(apps: [0], outSince: start, at: moment))
        now += 1
        #expect(health.isHanging(apps: [0], outSince: start, at: moment))
        #expect(!health.isHanging(apps: [0], outSince: moment, at: moment), "its first page has just gone out")
        #expect(!health.isHanging(apps: [], outSince: start, at: moment), "it pushes to nobody")
        health.pushWasAnswered(app: 1, at: moment)
        #expect(health.isHanging(apps: [0], outSince: start, at: moment))
        #expect(!health.isHanging(apps: [0, 1], outSince: start, at: moment), "one of its apps is answered")
        now += AppHealth.patienceMilliseconds + 1
        #expect(health.isHanging(apps: [0, 1], outSince: start, at: moment))
    }
}
