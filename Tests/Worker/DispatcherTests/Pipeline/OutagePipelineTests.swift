import Backoffice
import DispatchCore
import Metrics
import Notifications
import PushTestKit
import Testing

@testable import Dispatcher

/// An hour without APNs takes no time here: the clock is moved, and what the retry queues would give back is given
/// back when its time has come.
@Suite("The worker while APNs cannot be reached", .timeLimit(.minutes(10)))
struct OutagePipelineTests {
    private static let ladder: [Int64] = [1_000, 5_000, 30_000, 120_000, 900_000, 3_600_000]
    private static let secondsPerStep: Int64 = 30

    private let way = RouteSwitch()

    private func bench(apps: [String]) throws -> PipelineBench {
        let transport = FakeTransport { [way] request, _ in
            way.isOff(request.route) ? nil : .answered(PushAnswer(status: 200))
        }
        // The events may become less old than the outage is long.
        return try PipelineBench(
            transport: transport, apps: apps, delaysMilliseconds: Self.ladder, ageMaximumMilliseconds: 1_800_000)
    }

    /// Gives back what the retry queues would give back within a step that ends now, and counts it.
    private func passStep(_ step: Int64, _ bench: PipelineBench) -> Int {
        bench.clock.advance(milliseconds: Self.secondsPerStep * 1_000)
        var count = 0
        for delay in Self.ladder {
            let steps = max(1, delay / (Self.secondsPerStep * 1_000))
            guard step % steps == 0 else { continue }
            count += bench.broker.deliverQueued(in: PipelineBench.retryQueue(delay)).count
        }
        return count
    }

    @Test("With no way for any app it stops consuming: an hour's events stand in the broker, and all are sent after it")
    func forAllApps() async throws {
        let bench = try bench(apps: ["chat", "mail"])
        await bench.settledLoop()
        bench.transport.setReachable(true, routes: [0, 2])
        way.turnOff([0, 2])
        bench.broker.deliver((0..<500).map { PipelineBench.push($0, app: $0.isMultiple(of: 2) ? "chat" : "mail") })
        await bench.settledLoop()
        bench.transport.setReachable(false, routes: [0, 2])
        bench.transport.answerAll(.notProcessed("no stream to APNs was free in time"))
        await bench.broker.wait { $0.isPaused && $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: "apus.retry.30s").count == 500)
        #expect(bench.dispatch.health.problems.contains { $0.contains("no push service can be reached") })

        let attempted = bench.transport.requests.count
        var next = 500
        for step in 1...(3_600 / Self.secondsPerStep) {
            _ = passStep(step, bench)
            bench.broker.deliver((0..<20).map { PipelineBench.push(next + $0) })
            next += 20
        }
        await bench.settledLoop()
        #expect(bench.transport.requests.count == attempted, "nothing was tried")
        #expect(bench.broker.backlogCount == bench.broker.unacknowledgedCount, "nothing is admitted")

        way.turnOn([0, 2])
        bench.transport.setReachable(true, routes: [0, 2])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let pushCounts = try await bench.dispatch.pushCounts()
        #expect(pushCounts[0].accepted + pushCounts[1].accepted == next)
        #expect(pushCounts.allSatisfy { $0.isBalanced && $0.deadLettered == 0 && $0.expired == 0 })
        #expect(bench.broker.pauseCount == 1)
        try await eventually("readiness to name nothing") { bench.dispatch.health.problems.isEmpty }
        bench.stop()
    }

    @Test("The report of an app names each service that cannot be reached")
    func namesServices() async throws {
        let bench = try bench(apps: ["chat"])
        await bench.settledLoop()
        for (route, name) in ["APNs' production server", "APNs' development server", "the registry's API"].enumerated()
        {
            bench.transport.setReachable(false, routes: [route])
            try await eventually("the problem of \(name)", equals: ["\(name) cannot be reached"]) {
                try await bench.dispatch.status().apps[0].problems
            }
            bench.transport.setReachable(true, routes: [route])
        }
        bench.stop()
    }

    @Test("With no way for one app alone its pushes wait in retry queues, ever longer, while the others go on at once")
    func forOneApp() async throws {
        let bench = try bench(apps: ["chat", "mail"])
        await bench.settledLoop()
        way.turnOff([0])
        bench.transport.setReachable(true, routes: [2])
        bench.transport.setReachable(false, routes: [0])
        var sent = 0
        var returned = 0
        let steps = 3_600 / Self.secondsPerStep
        for step in 1...steps {
            returned += passStep(step, bench)
            bench.broker.deliver(
                (sent..<sent + 3).flatMap {
                    [PipelineBench.push($0, app: "chat"), PipelineBench.push($0, app: "mail")]
                })
            sent += 3
            await bench.broker.wait { $0.unacknowledgedCount == 0 }
        }
        let during = try await bench.dispatch.pushCounts()
        #expect(during[1].accepted == sent && during[1].requeued == 0)
        #expect(during[0].accepted == 0 && during[0].deadLettered == 0)
        #expect(bench.transport.requests.allSatisfy { $0.route == 2 }, "nothing was tried in vain")
        #expect(returned < 8 * sent, "each comes back a few times, not every half a minute: \(returned)")
        #expect(bench.broker.pauseCount == 0)

        way.turnOn([0])
        bench.transport.setReachable(true, routes: [0])
        for step in (steps + 1)...(steps + 900 / Self.secondsPerStep) {
            _ = passStep(step, bench)
            await bench.broker.wait { $0.unacknowledgedCount == 0 }
        }
        let after = try await bench.dispatch.pushCounts()
        #expect(after[0].accepted == sent, "a quarter of an hour after its end at the latest")
        #expect(after.allSatisfy { $0.isBalanced && $0.deadLettered == 0 })
        bench.stop()
    }

    @Test("What expires during an outage is dropped and counted, wherever it waits, and never sent late")
    func expiry() async throws {
        let bench = try bench(apps: ["chat"])
        await bench.settledLoop()
        let soon = bench.clock.nowMilliseconds / 1_000 + 120
        let late = #"{"expiration":\#(soon)}"#
        way.turnOff([0])
        // In flight when APNs goes away; in the retry queue after that; and in the broker all the time.
        bench.broker.deliver((0..<10).map { PipelineBench.push($0, options: late) })
        await bench.settledLoop()
        bench.transport.setReachable(false, routes: [0])
        bench.transport.answerAll(.notProcessed("no stream to APNs was free in time"))
        await bench.broker.wait { $0.requeued(in: "apus.retry.30s").count == 10 && $0.unacknowledgedCount == 0 }
        bench.broker.deliver((10..<30).map { PipelineBench.push($0, options: late) })
        bench.broker.deliver([PipelineBench.push(30)])
        bench.clock.advance(milliseconds: 120_000)
        bench.broker.deliverQueued(in: "apus.retry.30s")
        let attempted = bench.transport.requests.count
        way.turnOn([0])
        bench.transport.setReachable(true, routes: [0])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let ledger = try await bench.dispatch.pushCounts()[0]
        // Events whose audience had not been looked up are counted as events.
        #expect(ledger.expired == 10 && ledger.accepted == 1 && ledger.isBalanced)
        let expired = "apus_events_total{type=\"push.requested\",outcome=\"expired\"} 20\n"
        #expect(bench.metrics.render().contains(expired))
        #expect(bench.transport.requests.count == attempted + 1)
        #expect(bench.broker.requeued(in: "apus.dead-letter").isEmpty)
        bench.stop()
    }

    @Test("A push that APNs asked to wait for is dropped, not sent, when its time has passed in the retry queue")
    func expiryInRetryQueue() async throws {
        let transport = FakeTransport { _, attempt in
            .answered(attempt == 1 ? PushAnswer(status: 429, reason: "TooManyRequests") : PushAnswer(status: 200))
        }
        let bench = try PipelineBench(transport: transport)
        let soon = bench.clock.nowMilliseconds / 1_000 + 30
        bench.broker.deliver([PipelineBench.push(1, options: #"{"expiration":\#(soon)}"#)])
        await bench.broker.wait { !$0.requeued(in: "apus.retry.1s").isEmpty && $0.unacknowledgedCount == 0 }
        bench.clock.advance(milliseconds: 31_000)
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.settledTags.count == 2 }
        #expect(transport.requests.count == 1)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.expired == 1 && ledger.isBalanced)
        bench.stop()
    }
}
