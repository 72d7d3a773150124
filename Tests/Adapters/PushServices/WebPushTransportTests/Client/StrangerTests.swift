import ConnectionPool
import Crypto
import Foundation
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

@testable import WebPushTransport

@Suite("Strangers among the push services of browsers, over real connections", .timeLimit(.minutes(5)))
struct StrangerTests {
    private static let accepted = [AttemptOutcome.answered(PushAnswer(status: 200))]

    /// Services by the ends of their hosts' names, which a proxy finds on this machine; all other hosts never answer.
    private struct World {
        let services: [BrowserService]
        let proxy: ConnectProxy
        let folder: TemporaryFolder
        let metrics = MetricsRegistry()
        let log = LogCollector()
        let client: WebPushServiceClient
        let collector = OutcomeCollector()

        init(
            _ services: [(suffix: String, service: BrowserService)], apps: Int = 1,
            _ change: (inout WebPushServiceConfiguration) -> Void = { _ in }
        ) async throws {
            folder = try TemporaryFolder()
            self.services = services.map(\.service)
            proxy = try await ConnectProxy.start(
                .tunnelByHost(
                    Dictionary(uniqueKeysWithValues: services.map { ($0.suffix, $0.service.loops.port) })))
            let anchors = services.map { $0.service.loops.trustAnchorPEM }.joined()
            let tokens = VAPIDTokenSource(
                key: VAPIDSigningKey(try ES256PrivateKey.generate()),
                subject: try VAPIDSubject("mailto:push@example.com"))
            var configuration = WebPushServiceConfiguration(
                apps: (0..<apps).map { .init(name: "app\($0)", tokens: tokens) })
            configuration.extraTrustAnchorsFile = try folder.write("anchors.pem", anchors)
            configuration.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port)
            configuration.knownLimits.deadlineNanoseconds = 600_000_000_000
            configuration.unknownLimits.deadlineNanoseconds = 600_000_000_000
            configuration.unprovenDeadlineNanoseconds = 600_000_000_000
            configuration.closeTimeoutNanoseconds = 0
            change(&configuration)
            client = try WebPushServiceClient(configuration: configuration, logger: log.logger, metrics: metrics)
            client.start(handler: collector)
        }

        func send(_ identifier: Int, to endpoint: String, app: Int = 0) throws {
            let details = try services[0].token("/")?.details
            let token = DeviceToken(text: Array("https://\(endpoint)".utf8), details: details)
            client.send([try WebPushClientTests.request(identifier, token, route: app)])
        }

        func outcome(_ identifier: Int) async -> [AttemptOutcome]? {
            _ = await collector.outcomes.wait { $0[UInt64(identifier)] != nil }
            return collector.outcomes.value[UInt64(identifier)]
        }

        /// Sends pushes until one is accepted: a busy machine may need several.
        func sendUntilAccepted(_ numbers: Range<Int>, to endpoint: String) async throws {
            for number in numbers {
                try send(number, to: endpoint)
                if await outcome(number) == StrangerTests.accepted { return }
            }
        }

        func end() async throws {
            await client.close()
            try await proxy.stop()
            for service in services { try await service.stop() }
        }
    }

    @Test("Hosts that never answer, in any number, leave a known push service of another app its place")
    func tarpits() async throws {
        let good = try await BrowserService(hostNames: ["push.good.example"])
        let silent = try await BrowserService(hostNames: ["*.silent.example"], faults: #"{"fault":"silence"}"#)
        let world = try await World([("push.good.example", good), (".silent.example", silent)], apps: 2) {
            $0.hosts.knownHosts.append("push.good.example")
            $0.originsMaximum = 8
        }
        // Each of some hosts never answers TCP's client, or never a request; some are below one wildcard name.
        for number in 0..<60 {
            try world.send(number, to: "w\(number).silent.example/x")
            try world.send(100 + number, to: "w.tarpit\(number).example/x")
        }
        #expect(await world.outcome(159) == [.crowdedOut("too many unknown push services are in use")])
        try world.send(1_000, to: "push.good.example/x", app: 1)
        #expect(await world.outcome(1_000) == Self.accepted)
        try world.send(1_001, to: "push.good.example/x", app: 0)
        #expect(await world.outcome(1_001) == Self.accepted)
        let text = world.metrics.render()
        #expect(text.contains("apus_push_origins_refused_total{bound=\"unproven_of_app\"} 118"))
        #expect(text.contains("apus_push_origins{standing=\"unproven\"} 2"), "one of each kind")
        #expect(text.contains("apus_push_origins{standing=\"reserved\"} 2"))
        let full = world.log.lines.value.filter { $0.contains("push.origins.full") }
        #expect(full.count == 1 && full[0].contains("app0"), "once a minute for an app and a bound: \(full)")
        try await world.end()
    }

    @Test("The connections of an app are those to all of its push services")
    func connections() async throws {
        let service = try await BrowserService(hostNames: ["push.first.example", "push.second.example"])
        let world = try await World([(".example", service)])
        try world.send(0, to: "push.first.example/x")
        #expect(await world.outcome(0) == Self.accepted)
        try world.send(1, to: "push.second.example/x")
        #expect(await world.outcome(1) == Self.accepted)
        try await eventually("both connections to count") {
            world.client.client.connections.map(\.openCount) == [2]
        }
        try await world.end()
    }

    @Test("A push to a made-up host that cannot be reached spends attempts, and one to a known host does not")
    func unreachable() async throws {
        let good = try await BrowserService(hostNames: ["push.good.example"])
        let world = try await World([("push.good.example", good)]) {
            $0.hosts.knownHosts.append("push.known.example")
            $0.unprovenDeadlineNanoseconds = 2_000_000_000
            $0.knownLimits.deadlineNanoseconds = 2_000_000_000
        }
        // Now it is known that our own network is not away.
        try await world.sendUntilAccepted(2..<50, to: "push.good.example/x")
        try world.send(0, to: "push.made-up.example/x")
        try world.send(1, to: "push.known.example/x")
        guard case .unreachable? = await world.outcome(0)?.first, case .notProcessed? = await world.outcome(1)?.first
        else {
            Issue.record("\(world.collector.outcomes.value)")
            return
        }
        try await world.end()
    }

    @Test("A stranger has little time until it has accepted a push, and then as much as any")
    func time() async throws {
        let service = try await BrowserService(
            hostNames: ["push.friend.example"],
            faults: """
                {"fault":"silence","token":"/silent"}
                {"fault":"delay","ms":3000,"token":"/slow"}
                """)
        let world = try await World([("push.friend.example", service)]) {
            $0.unprovenDeadlineNanoseconds = 1_500_000_000
        }
        try world.send(0, to: "push.friend.example/silent")
        let first = await world.outcome(0)
        #expect(
            first?.count == 1 && first != Self.accepted, "it did not wait for the pool's ten minutes: \(first ?? [])")
        try await world.sendUntilAccepted(1..<50, to: "push.friend.example/good")
        try world.send(1_000, to: "push.friend.example/slow")
        #expect(await world.outcome(1_000) == Self.accepted)
        try await world.end()
    }

    @Test("An answer that never ends counts when its status and enough of it have come, and others go on beside it")
    func endless() async throws {
        let service = try await BrowserService(
            hostNames: ["push.mean.example"],
            faults: """
                {"fault":"endless-answer","token":"/body"}
                {"fault":"endless-answer","status":503,"token":"/busy"}
                {"fault":"endless-answer","of":"information","token":"/information"}
                """)
        let world = try await World([("push.mean.example", service)])
        let paths = ["body", "good", "busy", "good", "information", "good", "body"]
        for (number, path) in paths.enumerated() { try world.send(number, to: "push.mean.example/\(path)") }
        for number in [0, 1, 3, 5, 6] { #expect(await world.outcome(number) == Self.accepted, "\(number)") }
        guard case .answered(let busy)? = await world.outcome(2)?.first else {
            Issue.record("no answer")
            return
        }
        #expect(busy.status == 503)
        guard case .ambiguous? = await world.outcome(4)?.first else {
            Issue.record("there was no status to go by")
            return
        }
        try await world.end()
    }

    @Test(
        "Through a proxy no private address is asked for, in whatever form it is written",
        arguments: [
            "127.0.0.1", "0x7f.1", "017700000001", "2130706433", "169.254.169.254", "10.1", "[::1]",
            "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "localhost", "a.localhost", "localhost.", "127.0.0.1.",
            "metadata",
        ])
    func privateAddresses(host: String) async throws {
        let world = try await World([("never.example", try await BrowserService())])
        try world.send(0, to: "\(host)/x")
        #expect(await world.outcome(0) == [SubscriptionProblem.endpointRefused.outcome])
        #expect(world.proxy.requests.value.isEmpty)
        try await world.end()
    }
}
