import ChangeEvents
import DispatchCore
import Dispatcher
import Messages
import Metrics
import Notifications
import PushTestKit
import Testing

@Suite("One app in trouble beside another", .timeLimit(.minutes(10)))
struct IsolationPipelineTests {
    /// The fate of every push of the app in trouble.
    enum Trouble: String, CaseIterable, Sendable {
        case wrongKey
        case throttled
        case serverError
        case notProcessed
        case answersLost
        case silent

        var outcome: AttemptOutcome? {
            switch self {
            case .wrongKey: .answered(PushAnswer(status: 403, reason: "InvalidProviderToken"))
            case .throttled: .answered(PushAnswer(status: 429, reason: "TooManyRequests"))
            case .serverError: .answered(PushAnswer(status: 500, reason: "InternalServerError"))
            case .notProcessed: .notProcessed("no stream to APNs was free in time")
            case .answersLost: .ambiguous("no answer in time")
            case .silent: nil
            }
        }
    }

    @Test("The other app's pushes all go out at once, each on its first attempt", arguments: Trouble.allCases)
    func isolation(trouble: Trouble) async throws {
        let transport = FakeTransport { request, _ in
            request.route == 0 ? trouble.outcome : .answered(PushAnswer(status: 200))
        }
        var limits = DispatchLimits()
        limits.pushesInFlightMaximum = 200
        let bench = try PipelineBench(transport: transport, apps: ["chat", "mail"], limits: limits)
        await bench.settledLoop()
        var tags: Set<DeliveryTag> = []
        for round in 0..<5 {
            let numbers = round * 20..<(round + 1) * 20
            // The app in trouble has ten times as much to do, and comes first.
            bench.broker.deliver(
                numbers.flatMap { number in (0..<10).map { PipelineBench.push(10 * number + $0, app: "chat") } })
            tags.formUnion(bench.broker.deliver(numbers.map { PipelineBench.push($0, app: "mail") }))
            let expected = tags
            await bench.broker.wait { expected.isSubset(of: $0.settledTags) }
        }
        let pushCounts = try await bench.dispatch.pushCounts()
        #expect(pushCounts[1].accepted == 100 && pushCounts[1].requeued == 0)
        #expect(transport.requests.count { $0.route == 2 } == 100)
        #expect(pushCounts[0].accepted == 0 && pushCounts.allSatisfy { $0.isBalanced })
        bench.stop()
    }

    @Test(
        "An app that is silent is requeued beyond its share after some seconds, so that its deliveries free the window")
    func silentAppLeavesWindow() async throws {
        let transport = FakeTransport { request, _ in request.route == 0 ? nil : .answered(PushAnswer(status: 200)) }
        var limits = DispatchLimits()
        limits.unsettledDeliveriesMaximum = 100
        let bench = try PipelineBench(
            transport: transport, apps: ["chat", "mail"], delaysMilliseconds: [5_000, 60_000], limits: limits,
            timeGoesOn: false)
        await bench.settledLoop()
        bench.broker.deliver((0..<60).map { PipelineBench.push($0, app: "chat") })
        await bench.settledLoop()
        for number in 60..<100 {
            bench.clock.advance(milliseconds: 1_000)
            bench.broker.deliver([PipelineBench.push(number, app: "chat")])
            await bench.settledLoop()
        }
        await bench.settledLoop()
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.requeuedForRetry > 20 && ledger.isBalanced, "\(ledger)")
        #expect(bench.broker.unacknowledgedCount < 80)
        let requeued = bench.broker.requeued(in: "apus.retry.5s") + bench.broker.requeued(in: "apus.retry.1m")
        // A push that never went out has spent nothing; a push that was given up afterwards has spent an attempt.
        let spent = Dictionary(grouping: requeued) { $0.header(RetryHeader.reason) }
            .mapValues { Set($0.map { $0.header(RetryHeader.attempt) }) }
        #expect(spent == [.string("congested"): [.int64(0)], .string("unanswered"): [.int64(1)]])
        #expect(bench.metrics.render().contains(#"apus_app_slow{app="chat",service="apns"} 1"#))
        bench.stop()
    }

    @Test("A large fan-out takes turns with small events: they go out first, and all of it goes out in the end")
    func classes() async throws {
        let transport = FakeTransport { _, _ in nil }
        let bench = try PipelineBench(transport: transport)
        await bench.settledLoop()
        // Tokens below 65,536 are those of small events.
        let isSmall = { (request: PushRequest) in request.token.bytes.dropLast(2).allSatisfy { $0 == 0 } }
        bench.broker.deliver((0..<10).map { PipelineBench.push($0) })
        bench.broker.deliver(
            (0..<4).map { PipelineBench.push(1_000_000 + 200 * $0, tokenCount: 200) }, deliveryClass: .bulk)
        // A page in a turn of the loop.
        for _ in 0..<10 { await bench.settledLoop() }
        #expect(transport.requests.count > 10 && transport.requests.prefix(10).allSatisfy(isSmall))
        let before = transport.requests.count
        bench.broker.deliver((10..<20).map { PipelineBench.push($0) })
        await bench.settledLoop()
        #expect(transport.requests.dropFirst(before).prefix(10).allSatisfy(isSmall), "they are not kept waiting")
        try await bench.turn("the end of all deliveries") {
            transport.answerAll(.answered(PushAnswer(status: 200)))
        } until: {
            bench.broker.unacknowledgedCount == 0
        }
        #expect(transport.requests.count == 20 + 4 * 200)
        bench.stop()
    }
}
