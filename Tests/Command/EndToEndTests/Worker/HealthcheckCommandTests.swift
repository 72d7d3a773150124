import PushTestKit
import Testing

@Suite("apus healthcheck")
struct HealthcheckCommandTests {
    @Test("It tells a worker that is well from one that is not ready and one that is not there, by its exit code")
    func tellsTheState() async throws {
        let fixture = try await WorkerFixture()
        try fixture.registerReaders(1)
        let port = try FreePorts.find(1)[0]
        let configuration = try fixture.folder.read("apus.toml")
        let unset = try await fixture.apus("healthcheck")
        #expect(unset.exitCode == 78 && unset.errors.contains("admin.listen names no port"), "\(unset)")
        // A container's server listens on all addresses.
        try fixture.folder.write("apus.toml", configuration.replacing("127.0.0.1:0", with: "0.0.0.0:\(port)"))
        let absent = try await fixture.apus("healthcheck")
        #expect(absent.exitCode == 69 && absent.errors.contains("127.0.0.1:\(port)/livez"), "\(absent)")

        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let live = try await fixture.apus("healthcheck")
        #expect(live.exitCode == 0 && live.output.contains("/livez: 200"), "\(live)")
        let ready = try await fixture.apus("healthcheck", "--ready", "--json")
        #expect(ready.exitCode == 0 && ready.output.hasPrefix(#"{"status":"ok","checks":"#), "\(ready)")
        await worker.drainCleanly()

        try await fixture.broker.control("delete_queue", "\(fixture.namespace).work")
        let lost = try fixture.startWorker()
        _ = try await lost.readiness(503, mentioning: "\(fixture.namespace).work")
        #expect(try await fixture.apus("healthcheck").exitCode == 0)
        let unready = try await fixture.apus("healthcheck", "--ready")
        #expect(unready.exitCode == 69 && unready.output.contains("\(fixture.namespace).work"), "\(unready)")
        _ = await lost.drain()
        try await fixture.stop()
    }
}
