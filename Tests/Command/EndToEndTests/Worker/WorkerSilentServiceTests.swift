import APNsSimulator
import JSON
import PushServiceSimulator
import PushTestKit
import Testing

@Suite("A worker whose push service answers nothing", .timeLimit(.minutes(10)))
struct WorkerSilentServiceTests {
    private static let deviceCount = 5

    /// The worker's status by `/readyz`.
    private func isWell(_ worker: WorkerProcess) async throws -> Bool {
        try await worker.get("/readyz").body.contains(#""status":"ok""#)
    }

    @Test("It stays ready and says so everywhere; when answers come, all is well again, and nothing was lost")
    func saysSo() async throws {
        let fixture = try await WorkerFixture(configuration: "[worker]\npush_timeout = \"1s\"\n")
        // However slow the machine is, no push becomes a dead letter.
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", configuration.replacing("[retry]", with: "[retry]\nmax_attempts = 1000"))
        try fixture.register(Self.deviceCount)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        #expect(try await isWell(worker))
        try fixture.simulator.execute(Array(#"{"fault":"silence"}"#.utf8))
        try await fixture.publish(
            (0..<Self.deviceCount).map { WorkerFixture.datasetChanged("e-\($0)", identity: $0, syncCount: 1) })

        let readiness = try await worker.readiness(200, mentioning: "chat: APNs answers no push")
        #expect(readiness.contains(#""status":"degraded""#), "\(readiness)")
        #expect(try await worker.metric("apus_app_failing", #"reason="silent""#) == 1)
        try await worker.wait(for: "apus_push_attempts_unanswered_total", toReach: Self.deviceCount)
        #expect(try await worker.metric("apus_push_duration_seconds_count") == 0, "an outage does not look quick")
        try await worker.wait(for: "apus_event_lag_seconds_count", toReach: Self.deviceCount)
        try await eventually("apus top to show the trouble") {
            try await fixture.apus("top", "--once").output.contains("APNs has not answered for")
        }
        let page = try JSONParser().parse(try await worker.get("/ui/api/now").body)
        #expect(page["apps"]?.array?.first { _ in true }?["state"]?.string == "failing")

        fixture.simulator.removeFaults()
        _ = try await fixture.accepted(reachingDevices: Self.deviceCount)
        try await eventually("the worker to be well") { try await isWell(worker) }
        #expect(try await worker.metric("apus_app_failing", #"reason="silent""#) == 0)
        let log = await worker.drain().errors
        // On a slow machine most pushes are also retried, which is told as well.
        let events = log.split(separator: "\n").filter { $0.contains(#""reason":"silent""#) }
        #expect(events.count == 2 && events[0].contains(#""app.failing""#), "\(events)")
        #expect(log.contains(#""balanced":true"#))
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }
}
