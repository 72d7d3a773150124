import ChangeQueue
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

@Suite("Policies of the broker")
struct PolicyTests {
    @Test("A policy that takes at-least-once dead-lettering away is found by asking RabbitMQ's management API")
    func finds() async throws {
        let port = try FreePorts.find(1)[0]
        let broker = try await PrivateRabbitMQ.start(
            configuration: "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = \(port)",
            plugins: PrivateRabbitMQ.standardPlugins + ["rabbitmq_management"])
        defer { broker.stop() }
        var queue = try await TestQueue.make(broker: broker, retryDelaysMilliseconds: [1_000])
        queue.configuration.managementURL = "http://127.0.0.1:\(port)/"
        let findings = try await queue.topology.check(queue.configuration)
        #expect(try await queue.topology.withPolicies(findings, of: queue.configuration) == findings)
        let pattern = "^\(queue.names.namespace)\\.(work|retry)"
        try await broker.control(
            "set_policy", "broad", pattern, #"{"overflow":"drop-head"}"#, "--apply-to", "queues")
        // RabbitMQ tells its API of it every five seconds, of each queue at another moment.
        let deadline = ContinuousClock.now + .seconds(30)
        var found = findings
        while found.count(where: { !$0.isGood }) < 2, ContinuousClock.now < deadline {
            try await Pause.seconds(0.2)
            found = (try? await queue.topology.withPolicies(findings, of: queue.configuration)) ?? findings
        }
        let lossy = found.filter { !$0.isGood }
        #expect(lossy.count == 2)
        for finding in lossy {
            #expect(finding.object.name.contains("work") || finding.object.name.contains("retry"))
            #expect(finding.description.contains("the policy broad"))
            #expect(finding.description.contains("overflow = drop-head"))
        }
        #expect(await reported(queue).contains("apus_policy_conflicts \(lossy.count)\n"))
        queue.configuration.managementURL = "http://nobody:nothing@127.0.0.1:\(port)"
        #expect(await !reported(queue).contains("apus_policy_conflicts"), "0 would say that there is none")
        await #expect(throws: ChangeQueueError.self) {
            try await queue.topology.withPolicies(findings, of: queue.configuration)
        }
        queue.configuration.managementURL = ""
        #expect(await !reported(queue).contains("apus_policy_conflicts"), "the policies were not read")
    }

    private func reported(_ queue: TestQueue) async -> String {
        let metrics = MetricsRegistry()
        await queue.topology.reportPolicies(of: queue.configuration, logger: .silent, metrics: metrics)
        return metrics.render()
    }
}
