import PushTestKit
import Testing

@Suite("The worker, where policies of the broker change what its queues do")
struct WorkerPolicyTests {
    private static let gauge = "apus_policy_conflicts"

    private func lines(_ worker: WorkerProcess) -> [String] {
        worker.command.errors.split(separator: "\n").map(String.init).filter { $0.contains(#""topology.policy"#) }
    }

    /// Waits until the worker has looked: before that it counts nothing.
    private func waitForCountOfNone(_ worker: WorkerProcess) async throws {
        try await eventually("a count of no conflicts", within: .seconds(60)) {
            try await worker.get("/metrics").body.contains("\n\(Self.gauge) 0\n")
        }
    }

    @Test("It says at its start which policy loses messages of which queue, counts them, and works all the same")
    func losing() async throws {
        let fixture = try await WorkerFixture.withManagementAPI()
        try fixture.register(1)
        try await fixture.broker.control(
            "set_policy", "broad", "^\(fixture.namespace)\\.(work|retry)",
            #"{"overflow":"drop-head","max-length":9999}"#, "--apply-to", "queues")
        try await fixture.broker.control(
            "set_policy", "bounded", "^\(fixture.namespace)\\.fanout$", #"{"max-length":9999}"#,
            "--apply-to", "queues")
        for queue in ["work", "fanout", "retry.200ms", "retry.500ms", "retry.1s"] {
            let text = "\(fixture.namespace).\(queue): present, but"
            _ = try await fixture.apus("topology", "apply", sayingInTheEnd: text)
        }
        let worker = try fixture.startWorker()
        // Each of the work queue and the three retry queues drops what it should keep, and drops it when it is full.
        try await worker.wait(for: Self.gauge, toReach: 8)
        let lines = lines(worker)
        #expect(lines.count == 9, "\(lines)")
        #expect(lines.count { $0.contains(#""level":"warning""#) && $0.contains(#""losesMessages":false"#) } == 1)
        for queue in ["work", "retry.200ms", "retry.500ms", "retry.1s"] {
            let name = #""queue":"\#(fixture.namespace).\#(queue)""#
            for setting in ["overflow = drop-head", "max-length = 9999"] {
                let line = lines.first { $0.contains(name) && $0.contains(#""setting":"\#(setting)""#) } ?? ""
                for part in [
                    #""topology.policy""#, #""level":"error""#, #""policy":"broad""#, #""losesMessages":true"#,
                    #""advice":"Change the policy, or its pattern so that it leaves this queue out.""#,
                ] {
                    #expect(line.contains(part), "\(name) \(setting): \(lines)")
                }
            }
        }
        #expect(try await worker.metric(Self.gauge) == 8)
        _ = try await worker.readiness(200)
        try await fixture.publish([WorkerFixture.datasetChanged("1", identity: 0, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 1)
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("A worker that makes its queues under such a policy says so as well, as soon as RabbitMQ does")
    func fresh() async throws {
        let fixture = try await WorkerFixture.withManagementAPI()
        try fixture.register(1)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            written.replacing("namespace = \"\(fixture.namespace)\"", with: "namespace = \"fresh\"")
                .replacing("[admin]", with: "[worker]\ndeclare_topology = true\n[admin]"))
        try await fixture.broker.control(
            "set_policy", "broad", "^fresh\\.fanout$", #"{"expires":3600000}"#, "--apply-to", "queues")
        let worker = try fixture.startWorker()
        try await worker.wait(for: Self.gauge, toReach: 1)
        let lines = lines(worker)
        #expect(lines.count == 1 && lines[0].contains(#""queue":"fresh.fanout""#), "\(lines)")
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Without a policy, and with one that loses nothing, it counts none")
    func harmless() async throws {
        let fixture = try await WorkerFixture.withManagementAPI()
        try fixture.register(1)
        let clean = try fixture.startWorker()
        _ = try await clean.readiness(200)
        try await waitForCountOfNone(clean)
        await clean.drainCleanly()
        #expect(lines(clean).isEmpty, "\(lines(clean))")

        try await fixture.broker.control(
            "set_policy", "bounded", "^\(fixture.namespace)\\.work$", #"{"max-length":1000000}"#,
            "--apply-to", "queues")
        _ = try await fixture.apus("topology", "apply", sayingInTheEnd: "\(fixture.namespace).work: present, but")
        let bounded = try fixture.startWorker()
        try await bounded.command.wait(for: #""topology.policy""#)
        try await waitForCountOfNone(bounded)
        let lines = lines(bounded)
        #expect(lines.count == 1 && lines[0].contains(#""losesMessages":false"#), "\(lines)")
        #expect(lines.allSatisfy { $0.contains(#""level":"warning""#) }, "\(lines)")
        await bounded.drainCleanly()
        try await fixture.stop()
    }
}
