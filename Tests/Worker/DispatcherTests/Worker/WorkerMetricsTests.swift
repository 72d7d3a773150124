import APNsTransport
import Crypto
import DispatchCore
import Essentials
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import ServiceClient
import StructuredLogging
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("The worker's metrics")
struct WorkerMetricsTests {
    @Test("promtool finds nothing to say about what a worker registers before its first event")
    func promtool() async throws {
        let fixture = try ConfigurationFixture()
        _ = try SQLiteRegistry.open(path: "\(fixture.folder.path)/registry.db", mode: .create)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: "1.2.3")
        // Never started: it connects to nothing.
        let worker = try WorkerHost(fixture.load(ConfigurationFixture.app), version: "1.2.3", metrics: metrics)
        let text = metrics.render()
        #expect(text.contains("apus_build_info"))
        let result = try await CommandRunner.run(
            "/usr/bin/promtool", ["check", "metrics"], input: text, in: fixture.folder)
        #expect(result.exitCode == 0, "if promtool is missing: apt-get install prometheus")
        #expect(result.output + result.errors == "")
        withExtendedLifetime(worker) {}
    }

    @Test("A strict parser of OpenMetrics reads what a worker has, and the exemplars of a push")
    func openMetrics() async throws {
        let fixture = try ConfigurationFixture()
        _ = try SQLiteRegistry.open(path: "\(fixture.folder.path)/registry.db", mode: .create)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: "1.2.3")
        let worker = try Worker(
            configuration: fixture.load(ConfigurationFixture.app).configuration, logger: .silent, metrics: metrics)
        let pipeline = PipelineMetrics(
            registry: metrics,
            routes: [
                AppRoute(
                    index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1,
                    courierRoute: 2)
            ])
        let apnsID = APNsIdentifier(high: 0x123e_4567_e89b_82d3, low: 0xa456_4266_1417_4000)
        let now = WallTime(milliseconds: 1_700_000_000_123)
        let answered = AttemptOutcome.answered(PushAnswer(status: 200))
        for (outcome, nanoseconds) in [(answered, 3_000_000), (.ambiguous("late"), 20), (.notProcessed("away"), 0)] {
            pipeline.observe(
                AttemptResult(identifier: 1, outcome: outcome, durationNanoseconds: UInt64(nanoseconds)), apnsID,
                app: 0,
                in: nil, at: now)
        }
        pipeline.observe(DispatchActions.Lag(milliseconds: 20, apnsID: apnsID), at: now)
        let lines = [
            #"apus_push_duration_seconds_count{service="apns"} 1"#,
            #"apus_push_attempts_unanswered_total{app="chat",service="apns"} 2"#,
        ]
        for line in lines { #expect(metrics.render().contains("\(line)\n")) }
        let program = """
            import sys
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
            for family in text_string_to_metric_families(sys.stdin.read()):
                for sample in family.samples:
                    if sample.exemplar:
                        (name, text), = sample.exemplar.labels.items()
                        exemplar = (sample.exemplar.value, float(sample.exemplar.timestamp))
                        print(sample.name, sample.labels["le"], name, text, *exemplar)
            """
        let result = try await CommandRunner.run(
            "/usr/bin/python3", ["-c", program], input: metrics.render(.openMetrics), in: fixture.folder)
        let note = "if prometheus_client is missing: apt-get install python3-prometheus-client"
        #expect(result.exitCode == 0, "\(note)\n\(result.errors)")
        let text = "apns_id 123e4567-e89b-82d3-a456-426614174000"
        #expect(
            result.output == """
                apus_event_lag_seconds_bucket 0.025 \(text) 0.02 1700000000.123
                apus_push_duration_seconds_bucket 0.005 \(text) 0.003 1700000000.123

                """)
        withExtendedLifetime(worker) {}
    }
}
