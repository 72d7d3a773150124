import APNsSimulator
import Crypto
import Glibc
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("The worker, when a part of its surroundings is unusable")
struct WorkerRefusalTests {
    /// Writes a file that openssl makes.
    private func openssl(_ arguments: String..., in folder: TemporaryFolder) async throws {
        let made = try await CommandRunner.run("/usr/bin/openssl", arguments, in: folder)
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    @Test("A key that is missing, empty or RSA ends it with the exit code 78 and the path; one that others read warns")
    func keys() async throws {
        let fixture = try await WorkerFixture()
        let good = try fixture.folder.read("key.p8")
        try fixture.folder.remove("key.p8")
        let missing = try await fixture.apus("run")
        #expect(missing.exitCode == 78 && missing.errors.contains("key.p8: there is no such file"), "\(missing)")
        try fixture.folder.write("key.p8", "")
        let empty = try await fixture.apus("run")
        #expect(empty.exitCode == 78 && empty.errors.contains("key.p8"), "\(empty)")
        #expect(empty.errors.contains("empty"), "\(empty)")
        try await openssl("genpkey", "-algorithm", "RSA", "-out", "key.p8", in: fixture.folder)
        let rsa = try await fixture.apus("run")
        #expect(rsa.exitCode == 78 && rsa.errors.contains("key.p8") && rsa.errors.contains("RSA"), "\(rsa)")
        try fixture.folder.write("key.p8", good, mode: 0o644)
        let open = try await fixture.apus("check")
        #expect(open.exitCode == 0 && open.output.contains("chmod 600 key.p8"), "\(open)")
        try fixture.folder.write("key.p8", good.replacing("\n", with: #"\n"#))
        let oneLine = try await fixture.apus("check")
        #expect(oneLine.exitCode == 0, "\(oneLine)")
        try fixture.folder.write("key.p8", good.replacing("-----END PRIVATE KEY-----", with: ""))
        let cut = try await fixture.apus("check")
        #expect(cut.exitCode == 78 && (cut.errors + cut.output).contains("cut off"), "\(cut)")
        try await fixture.stop()
    }

    @Test(
        "A registry that is garbage, another program's, of a newer version or without a folder ends it, with a reason")
    func registries() async throws {
        let fixture = try await WorkerFixture()
        let path = fixture.folder.path + "/registry.db"
        let missing = try await fixture.apus("run", "--set", "registry.url=sqlite:none/registry.db")
        #expect(missing.errors.contains("No such file") && missing.errors.contains("folder exists"), "\(missing)")
        #expect(missing.exitCode == 69 && missing.errors.contains("none/registry.db"), "\(missing)")
        try fixture.folder.write("registry.db", String(repeating: "garbage ", count: 1_000))
        let garbage = try await fixture.apus("run")
        #expect(garbage.exitCode == 69 && garbage.errors.contains("integrity_check"), "\(garbage)")
        try fixture.folder.remove("registry.db")
        let statements = [("CREATE TABLE note (text)", "another program"), ("PRAGMA user_version = 99", "99")]
        for (statement, words) in statements {
            if words == "99" {
                try fixture.folder.remove("registry.db")
                _ = try SQLiteRegistry.open(path: path, mode: .create)
            }
            let made = try await CommandRunner.run("/usr/bin/sqlite3", [path, statement], in: fixture.folder)
            try #require(made.exitCode == 0, "\(made.errors)")
            let refused = try await fixture.apus("run")
            #expect(refused.exitCode == 78 && refused.errors.contains(words), "\(refused)")
        }
        try await fixture.stop()
    }

    @Test("A worker without a registry makes one, says so once, and serves who registers afterwards")
    func newRegistry() async throws {
        let fixture = try await WorkerFixture()
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        try fixture.register(1)
        try await fixture.publish([WorkerFixture.datasetChanged("1", identity: 0, syncCount: 1)])
        #expect(try await fixture.accepted(reachingDevices: 1).count == 1)
        let first = await worker.drain()
        #expect(first.errors.contains(#""registry.created""#) && first.errors.contains("registry.db"), "\(first)")
        let second = try fixture.startWorker()
        try await second.readiness(200)
        #expect(await !second.drain().errors.contains("registry.created"))
        try await fixture.stop()
    }

    @Test("A registry that may not be written ends it, because dead tokens could not be removed")
    func readOnlyRegistry() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
            chmod("\(fixture.folder.path)/\(name)", 0o444)
        }
        // Root may write everything, so it drops that right first.
        let drop = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", CommandRunner.apusPath, "run"]
        let refused =
            if geteuid() == 0 {
                try await CommandRunner.run("/usr/bin/setpriv", drop, in: fixture.folder)
            } else {
                try await fixture.apus("run")
            }
        #expect(refused.exitCode == 69 && refused.errors.contains("cannot be written"), "\(refused)")
        try await fixture.stop()
    }

    /// Sets `max_message_size`, which 4.0 and newer read once, when the node boots.
    private static func limitMessages(to bytes: Int, _ fixture: WorkerFixture) async throws {
        try await fixture.broker.evaluate(
            "application:set_env(rabbit, max_message_size, \(bytes)), persistent_term:put(max_message_size, \(bytes)).")
    }

    @Test("What is too large for its broker to take a copy of ends as a dead letter, and the worker goes on")
    func aboveMaxMessageSize() async throws {
        let fixture = try await WorkerFixture(
            broker: PrivateRabbitMQ.start(), script: #"{"token":"\#(TestDevices.token(0))","answer":"throttle"}"#)
        try fixture.register(3)
        let large = WorkerFixture.datasetChanged("large", identity: 0, syncCount: 1)
            .replacing(#""source":"#, with: #""comment":"\#(String(repeating: "x", count: 20_000))","source":"#)
        try await fixture.publish([large])
        try await fixture.publish([TestEvents.message(String(repeating: " ", count: 20_000) + "{}")])
        // A new version has a smaller limit than the one that took the events; channels read it when they open.
        try await Self.limitMessages(to: 16_384, fixture)
        let worker = try fixture.startWorker()
        try await worker.wait(for: "apus_dead_letters_total", #"reason="rejected""#, toReach: 2)
        try await fixture.publish([WorkerFixture.datasetChanged("small", identity: 1, syncCount: 1)])
        try await fixture.publish([TestEvents.message("{")])
        _ = try await fixture.accepted(reachingDevices: 1)
        try await worker.wait(for: "apus_dead_letters_total", #"reason="invalid-json""#, toReach: 1)
        #expect(try await worker.metric("apus_publishes_total", #"outcome="rejected""#) == 2)
        let end = await worker.drain()
        #expect(end.exitCode == 0 && end.errors.contains(#""balanced":true"#), "\(end.errors.suffix(4_000))")
        #expect(end.errors.contains(#""event.dead-lettered","source":"test","id":"large""#), "\(end.errors)")
        try await fixture.waitForMessages(0)
        try await eventually("the dead letters", equals: 3) {
            try await fixture.broker.messageCount(queue: "\(fixture.namespace).dead-letter")
        }
        #expect(try await fixture.deadLetters().map(\.reason).sorted() == ["invalid-json", "rejected", "rejected"])
        let tooLarge = try await fixture.apus("publish", "--file", fixture.folder.write("large", large + "\n"))
        #expect(
            tooLarge.exitCode == 65 && tooLarge.errors.contains("such a message is not accepted"),
            "\(tooLarge)")
        let refused = try await fixture.apus("dead-letters", "replay", "--all")
        #expect(refused.exitCode == 65 && refused.errors.contains("larger than"), "\(refused)")
        #expect(
            refused.errors.contains("1 dead letter replayed") && refused.errors.contains("left out: 2 "), "\(refused)")
        #expect(try await fixture.deadLetters().map(\.reason) == ["rejected", "rejected"])
        try await Self.limitMessages(to: 1_048_576, fixture)
        let replay = try await fixture.apus("dead-letters", "replay", "--all")
        #expect(replay.exitCode == 0, "\(replay)")
        try await fixture.stop()
    }

    @Test("A broker that refuses the password leaves it alive, not ready, and saying so without the password")
    func refusedPassword() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let right = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", right.replacing(":guest@", with: ":wr0ng@"))
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(503, mentioning: "ACCESS_REFUSED")
        #expect(try await worker.get("/livez").status == 200)
        let end = await worker.drain()
        #expect(!(end.errors + end.output).contains("wr0ng"), "\(end.errors)")
        try await fixture.stop()
    }

    @Test("An APNs whose certificate is not trusted gets no push; nothing is lost, and the log says what to check")
    func untrustedCertificate() async throws {
        let fixture = try await WorkerFixture(configuration: "[worker]\npush_timeout = \"1s\"\n")
        try fixture.register(1)
        let anchor = try fixture.folder.read("anchor.pem")
        let stranger = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_700_000_000, notAfterSeconds: 4_000_000_000)
        try fixture.folder.write("anchor.pem", stranger.certificateChainPEM)
        let first = try fixture.startWorker()
        try await fixture.publish([WorkerFixture.datasetChanged("1", identity: 0, syncCount: 1)])
        try await first.command.wait(for: "push.connection.failed")
        #expect(first.command.errors.contains("certificate"), "\(first.command.errors)")
        _ = await first.drain()
        #expect(try await fixture.simulator.recorded().isEmpty)

        try fixture.folder.write("anchor.pem", anchor)
        let second = try fixture.startWorker()
        _ = try await fixture.accepted(reachingDevices: 1)
        await second.drainCleanly()
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }
}
