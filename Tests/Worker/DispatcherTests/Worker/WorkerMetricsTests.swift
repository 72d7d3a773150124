import APNsTransport
import Crypto
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
        let worker = try WorkerHost(fixture.load(ConfigurationFixture.app), metrics: metrics)
        let text = metrics.render()
        #expect(text.contains("apus_build_info"))
        let result = try await CommandRunner.run(
            "/usr/bin/promtool", ["check", "metrics"], input: text, in: fixture.folder)
        #expect(result.exitCode == 0, "if promtool is missing: apt-get install prometheus")
        #expect(result.output + result.errors == "")
        withExtendedLifetime(worker) {}
    }
}

@Suite("Signing keys of a worker")
struct ProviderKeyTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private func sources(_ second: String) throws -> [ProviderTokenSource] {
        let other = ConfigurationFixture.app.replacing("\"chat\"", with: "\"mail\"")
            .replacing("com.example.chat", with: "com.example.mail").replacing("key_file = \"key.p8\"", with: second)
        return try fixture.load(ConfigurationFixture.app + other).configuration.apnsClient().routes.map(\.tokenSource)
    }

    @Test("Apps with the same key share one provider token, whatever the name of the file")
    func sharesTheToken() throws {
        try fixture.folder.write("copy.p8", fixture.folder.read("key.p8"))
        for file in ["key.p8", "copy.p8"] {
            let sources = try sources("key_file = \"\(file)\"")
            #expect(sources.count == 4)
            #expect(sources.allSatisfy { $0 === sources[0] })
        }
    }

    @Test("Two different keys under one identifier are refused")
    func refusesTwoKeys() throws {
        try fixture.folder.write("other.p8", ES256PrivateKey.generate().pem)
        #expect(throws: APNsError.self) { try sources("key_file = \"other.p8\"") }
    }
}
