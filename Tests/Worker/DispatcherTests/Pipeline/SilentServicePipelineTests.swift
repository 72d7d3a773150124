import DispatchCore
import Dispatcher
import Metrics
import Notifications
import PushTestKit
import Testing

@Suite("The worker while a push service answers nothing", .timeLimit(.minutes(10)))
struct SilentServicePipelineTests {
    private let silent = RouteSwitch()
    private let log = LogCollector()

    private func bench() throws -> PipelineBench {
        var limits = DispatchLimits()
        limits.answerPatienceMilliseconds = 10_000
        let transport = FakeTransport { [silent] request, _ in
            silent.isOff(request.route) ? nil : .answered(PushAnswer(status: 200))
        }
        return try PipelineBench(
            transport: transport, apps: ["chat", "mail"], limits: limits, timeGoesOn: false, logger: log.logger)
    }

    /// Lets seconds pass, in each of which both apps get an event, until a condition is true.
    private func pass(_ bench: PipelineBench, from first: Int, until condition: () -> Bool) async throws -> Int {
        var next = first
        try await bench.turn("the state of the services") {
            bench.clock.advance(milliseconds: 1_000)
            bench.broker.deliver([PipelineBench.push(next), PipelineBench.push(next, app: "mail")])
            next += 1
        } until: {
            condition()
        }
        return next
    }

    private func failing(_ value: Int) -> String {
        "apus_app_failing{app=\"chat\",service=\"apns\",reason=\"silent\"} \(value)\n"
    }

    @Test("It says so of the app in readiness, metrics and log, stays ready, and says when answers come again")
    func saysSo() async throws {
        let bench = try bench()
        await bench.settledLoop()
        #expect(!bench.metrics.render().contains("apus_app_failing"))
        silent.turnOff([0])
        var next = try await pass(bench, from: 0) { bench.metrics.render().contains(failing(1)) }
        let checks = bench.dispatch.health.checks.filter { $0.reason != nil }
        #expect(checks.map(\.concern) == [.services] && checks.allSatisfy { $0.concern.onlyDegrades })
        #expect(checks.first?.reason == "chat: APNs answers no push")
        #expect(!bench.metrics.render().contains("mail\",service=\"apns\",reason"), "of the other app nothing is said")

        silent.turnOn([0])
        bench.transport.answerAll(.ambiguous("no answer in time"))
        next = try await pass(bench, from: next) { bench.metrics.render().contains(failing(0)) }
        #expect(bench.dispatch.health.problems.isEmpty)
        let told = log.lines.value.filter { $0.contains(" app.failing ") || $0.contains(" app.recovered ") }
        #expect(told.count == 2 && told.allSatisfy { $0.contains("chat") && $0.contains("silent") })
        let words = ["error app.failing", "apns", "has not answered for", "advice="]
        #expect(words.allSatisfy { told.first?.contains($0) == true } && told.last?.hasPrefix("info") == true)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let pushCounts = try await bench.dispatch.pushCounts()
        #expect(
            pushCounts.map(\.accepted) == [next, next, 0] && pushCounts.allSatisfy(\.isBalanced), "nothing is lost")
        bench.stop()
    }
}
