import ChangeEvents
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Push services of one app side by side")
struct DispatchServiceTests {
    private static let google = AppRoute(
        index: 1, name: "chat", service: .fcm, bundleID: "", transportRoutes: [.gcm: 6])

    private var machine: DispatchStateMachine
    private var actions = DispatchActions()
    private var nextDelivery: UInt64 = 0
    private var now: Int64 = 0

    init() {
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = 32
        limits.pushesInFlightMaximum = 64
        machine = Samples.machine(limits: limits, appCount: 2)
        machine.appNames = ["chat"]
    }

    /// An event for as many iPhones as Androids.
    private mutating func arrive(pairs: Int = 1, continuation: AudienceCursor? = nil) -> JobArrival {
        nextDelivery += 1
        let devices = (0..<pairs).flatMap { pair in
            [
                Samples.device("\(nextDelivery)-android-\(pair)", platform: .gcm),
                Samples.device("\(nextDelivery)-iphone-\(pair)"),
            ]
        }
        return machine.jobArrived(
            Samples.job(
                number: nextDelivery, devices: devices, apps: [Samples.app, Self.google], continuation: continuation),
            into: &actions)
    }

    private mutating func send() -> [PushRequest] {
        machine.sendWaiting(at: Samples.moment(now), into: &actions)
        defer { actions.sends = [] }
        return actions.sends
    }

    private mutating func answer(_ requests: [PushRequest], status: Int = 200, reason: String = "") {
        for request in requests {
            machine.pushEnded(
                AttemptResult(
                    identifier: request.identifier,
                    outcome: .answered(PushAnswer(status: status, reason: reason)), durationNanoseconds: 0),
                at: Samples.moment(now), into: &actions)
        }
    }

    private mutating func confirmAll() -> [OutgoingMessage] {
        defer { actions.publishes = [] }
        for publish in actions.publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
        return actions.publishes
    }

    private static func isGoogle(_ request: PushRequest) -> Bool { request.route == 6 }

    @Test("Each device gets its push by the service of its platform, and the delivery ends with the last of all")
    mutating func mixed() {
        #expect(arrive(pairs: 3) == .taken)
        let requests = send()
        let (google, apple) = (requests.filter(Self.isGoogle), requests.filter { !Self.isGoogle($0) })
        #expect(google.count == 3 && apple.map(\.route) == [0, 0, 0])
        answer(apple)
        #expect(actions.settles.isEmpty)
        answer(google)
        #expect(actions.settles == [DeliveryTag(epoch: 1, number: 1)])
        #expect(machine.pushCounts.map(\.accepted) == [3, 3, 0])
        #expect(machine.checkInvariants().isEmpty)
    }

    @Test("An answer means what its service means by it")
    mutating func answers() {
        _ = arrive(pairs: 2)
        let requests = send()
        // A 404 without a code of FCM is about the project; at APNs it is about the request.
        answer(requests, status: 404)
        let copies = confirmAll()
        #expect(copies.map(\.routingKey).sorted() == ["dead", "retry.1s"])
        #expect(machine.health.isKeyRefused(app: 1) && !machine.health.isKeyRefused(app: 0))
        #expect(actions.settles.count == 1 && machine.checkInvariants().isEmpty)
    }

    @Test("While one service is silent, the pushes of the same events to the other go on")
    mutating func silence() {
        var delivered = 0
        var settled = 0
        for _ in 0..<400 {
            _ = arrive()
            let requests = send().filter { !Self.isGoogle($0) }
            delivered += requests.count
            answer(requests)
            _ = confirmAll()
            settled += actions.settles.count
            actions.settles = []
            now += 100
        }
        #expect(delivered == 400, "every iPhone was told at once")
        #expect(machine.health.slowApps == [1], "only the silent service is called slow")
        #expect(settled > 300, "what is for the silent service waits in the broker")
        #expect(machine.checkInvariants().isEmpty)
    }

    @Test("The next page of an audience is published once, however many services the page has")
    mutating func continuation() {
        _ = arrive(pairs: 2, continuation: AudienceCursor(position: 7))
        answer(send())
        #expect(confirmAll().count == 1)
        #expect(actions.settles.count == 1)
    }

    @Test("A service that the app has no credentials for makes a dead letter, which says so, and the others go on")
    mutating func notConfigured() {
        nextDelivery += 1
        machine.jobArrived(
            Samples.job(
                devices: [Samples.device("kindle", platform: .adm), Samples.device("iphone")],
                apps: [Samples.app, Self.google]), into: &actions)
        answer(send())
        let copies = confirmAll()
        #expect(copies.map(\.routingKey) == ["dead"])
        #expect(copies.first?.message.header("apus-reason") == .string("service-not-configured"))
        #expect(machine.pushCounts[0].accepted == 1 && actions.settles.count == 1)
        #expect(machine.checkInvariants().isEmpty)
    }

    @Test("A delivery of which the broker takes no copy is rejected when all of its parts have ended")
    mutating func rejection() {
        _ = arrive()
        let requests = send()
        answer(requests.filter(Self.isGoogle), status: 503)
        let copy = actions.publishes[0]
        actions.publishes = []
        machine.publishEnded(copy.identifier, .rejected("too large"), into: &actions)
        #expect(actions.rejections.isEmpty, "an iPhone's push is out")
        answer(requests.filter { !Self.isGoogle($0) })
        #expect(actions.rejections.map(\.tags) == [[DeliveryTag(epoch: 1, number: 1)]] && actions.settles.isEmpty)
    }
}
