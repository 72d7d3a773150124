import Dispatcher
import Metrics
import Notifications
import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

@Suite("The worker's metrics")
struct WorkerMetricsTests {
    @Test("promtool finds nothing to say about what a worker registers before its first event")
    func promtool() async throws {
        let fixture = try ConfigurationFixture()
        _ = try SQLiteRegistry.open(path: "\(fixture.folder.path)/registry.db", mode: .create)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: "1.2.3")
        // Never started: it connects to nothing.
        let worker = try Worker(
            configuration: fixture.load(ConfigurationFixture.app).configuration, logger: .silent, metrics: metrics)
        let text = metrics.render()
        #expect(text.contains("apus_build_info"))
        let result = try await CommandRunner.run(
            "/usr/bin/promtool", ["check", "metrics"], input: text, in: fixture.folder)
        #expect(result.exitCode == 0, "if promtool is missing: apt-get install prometheus")
        #expect(result.output + result.errors == "")
        withExtendedLifetime(worker) {}
    }
}
