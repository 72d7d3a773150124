import Crypto
import Foundation
import PushTestKit
import Testing

/// SIGHUP, to the real command with a real broker.
@Suite("Reloading a worker's configuration", .serialized)
struct ReloadTests {
    private static let served = """
        [registry]
        url = "sqlite:registry.db"
        listen = "127.0.0.1:0"
        """

    /// Changes the configuration.
    private func rewrite(_ fixture: WorkerFixture, _ change: (String) -> String) throws {
        try fixture.folder.write("apus.toml", change(try fixture.folder.read("apus.toml")))
    }

    /// Sends SIGHUP, and waits until the log has this many lines about this event.
    private func reload(_ worker: WorkerProcess, expecting event: String, count: Int = 1) async throws {
        worker.command.signal(SIGHUP)
        try await eventually("\(event) \(count) times") {
            worker.command.errors
        } until: {
            $0.split(separator: "\"\(event)\"").count == count + 1
        }
    }

    private func events(_ range: Range<Int>) -> [String] {
        range.map { WorkerFixture.datasetChanged("event-\($0)", identity: $0, syncCount: 1) }
    }

    @Test("Apps come and go while events flow; each device gets one push, and the API knows the new app at once")
    func appsComeAndGo() async throws {
        let fixture = try await WorkerFixture(configuration: Self.served)
        try fixture.register(600)
        let token = try await fixture.apus("registry", "token", "add", "backend", "--permission", "write").output
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let port = try await worker.registryPort()
        let plain = try fixture.folder.read("apus.toml")
        let app = try #require(plain.firstRange(of: "[[app]]"))
        let second = plain[app.lowerBound...].replacing("\"chat\"", with: "\"mail\"")
            .replacing("com.example.chat", with: "com.example.mail").split(separator: "\n")
            .filter { !$0.hasPrefix("identity_pools") }.joined(separator: "\n")

        async let published: Void = fixture.publish(events(0..<300))
        try fixture.folder.write("apus.toml", plain + second + "\n")
        try await reload(worker, expecting: "config.reloaded")
        try await published
        let answer = try await CommandRunner.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--fail", "-X", "PUT", "http://127.0.0.1:\(port)/v1/devices/phone-1",
                "-H", "Authorization: Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))",
                "--json", #"{"app":"mail","platform":"APNS","token":"00fc13adff785122"}"#,
            ], in: fixture.folder)
        #expect(answer.exitCode == 0, "\(answer)")

        async let rest: Void = fixture.publish(events(300..<600))
        try fixture.folder.write("apus.toml", plain)
        try await reload(worker, expecting: "config.reloaded", count: 2)
        try await rest
        let accepted = try await fixture.accepted(reachingDevices: 600)
        #expect(accepted.count == 600)
        // The simulator has accepted a push before the worker reads so.
        try await eventually("all pushes to be counted", equals: 600) {
            try await worker.metric("apus_pushes_total", "outcome=\"accepted\"")
        }
        try await eventually("all deliveries to be settled", equals: 0) {
            try await worker.metric("apus_unacknowledged_deliveries")
        }
        #expect(try await worker.metric("apus_pushes_in_flight", "app=\"mail\"") == 0)
        #expect(try await !worker.get("/metrics").body.contains("apus_pushes_in_flight{app=\"mail\",service=\"apns\"}"))
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("What is wrong, or cannot work, is told and changes nothing; what was corrected is put in force")
    func refuses() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(3)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let good = try fixture.folder.read("apus.toml")
        let key = try fixture.folder.read("key.p8")

        try rewrite(fixture) { $0.replacing("\"1s\"", with: "\"soon\"") }
        try await reload(worker, expecting: "config.reload.failed")
        #expect(worker.command.errors.contains("retry.delays"))
        try rewrite(fixture) { _ in
            good.replacing("\"1s\"", with: "\"1s\", \"3s\"").replacing("[log]", with: "[log]\nlevel = \"debug\"")
        }
        try await reload(worker, expecting: "config.reload.failed", count: 2)
        let lack = "RabbitMQ lacks \(fixture.namespace).retry.3s; run `apus topology apply`"
        #expect(worker.command.errors.contains(lack))
        try fixture.folder.write("apus.toml", good)
        try fixture.folder.write("key.p8", "broken")
        try await reload(worker, expecting: "config.reload.failed", count: 3)
        #expect(try await worker.metric("apus_config_last_reload_successful") == 0)
        try await fixture.publish([WorkerFixture.datasetChanged("one", identity: 0, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 1)

        try fixture.folder.write("key.p8", key)
        try rewrite(fixture) { _ in good.replacing("\"1s\"", with: "\"1s\", \"3s\"") }
        try #require(try await fixture.apus("topology", "apply").exitCode == 0)
        try await reload(worker, expecting: "config.reloaded")
        #expect(try await worker.metric("apus_config_last_reload_successful") == 1)
        try await fixture.publish([WorkerFixture.datasetChanged("two", identity: 1, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 2)
        await worker.drainCleanly()
        #expect(!worker.command.errors.contains("event.handled"), "a refused level is not in force")
        try await fixture.stop()
    }

    @Test("The log's level changes in place, and a key that needs a restart is named")
    func inPlace() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try rewrite(fixture) {
            $0.replacing("[log]", with: "[log]\nlevel = \"debug\"")
                .replacing("[admin]", with: "[admin]\nhosts = [\"a\"]")
        }
        try await reload(worker, expecting: "config.reloaded")
        #expect(worker.command.errors.contains("config.reload.needs-restart"))
        #expect(worker.command.errors.contains("\"keys\":\"admin.hosts\""))
        #expect(worker.command.errors.split(separator: "\"worker.started\"").count == 2)
        try await fixture.publish([WorkerFixture.datasetChanged("one", identity: 0, syncCount: 1)])
        try await worker.command.wait(for: "event.handled")
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Twelve reloads, half of them refused, leave no thread and no descriptor behind, and spend no provider token")
    func leavesNothingBehind() async throws {
        let fixture = try await WorkerFixture(configuration: Self.served)
        try fixture.register(2)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([WorkerFixture.datasetChanged("one", identity: 0, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 1)
        let key = try fixture.folder.read("key.p8")
        func entries(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker.command.identifier)/\(folder)").count
        }
        // The first one also starts threads of the runtime, which stay.
        try await reload(worker, expecting: "config.reloaded")
        let threads = try entries("task")
        let descriptors = try entries("fd")
        for round in 1...6 {
            try fixture.folder.write("key.p8", "broken")
            try await reload(worker, expecting: "config.reload.failed", count: round)
            try fixture.folder.write("key.p8", key)
            try await reload(worker, expecting: "config.reloaded", count: round + 1)
        }
        try await eventually("the threads of the old workers to end") {
            try entries("task")
        } until: {
            $0 <= threads
        }
        try await eventually("the descriptors of the old workers to be closed") {
            try entries("fd")
        } until: {
            $0 <= descriptors + 2
        }
        try await fixture.publish([WorkerFixture.datasetChanged("two", identity: 1, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 2)
        #expect(try await worker.metric("apus_apns_provider_tokens_minted_total") == 1)
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
