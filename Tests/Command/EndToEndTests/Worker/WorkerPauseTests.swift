import APNsSimulator
import Glibc
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Pausing apps of a worker")
struct WorkerPauseTests {
    private static func pushes(_ range: Range<Int>, app: String = "chat") -> [String] {
        range.map { TestEvents.pushRequested("\(app)-\($0)", to: .tokens([TestDevices.token($0)]), app: app) }
    }

    /// A fixture with the apps `chat` and `mail`.
    private func fixture() async throws -> WorkerFixture {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let plain = try fixture.folder.read("apus.toml")
        let app = try #require(plain.firstRange(of: "[[app]]"))
        let second = plain[app.lowerBound...].replacing("\"chat\"", with: "\"mail\"")
            .replacing("com.example.chat", with: "com.example.mail").split(separator: "\n")
            .filter { !$0.hasPrefix("identity_pools") }.joined(separator: "\n")
        try fixture.folder.write("apus.toml", plain + second + "\n")
        return fixture
    }

    @Test("A paused app waits through a restart while the other goes on; resumed, each of its pushes goes out once")
    func oneApp() async throws {
        let fixture = try await fixture()
        let paused = try await fixture.apus("pause", "chat", "--reason", "a bad release")
        #expect(paused.exitCode == 0 && paused.output.hasPrefix("chat  paused since "), "\(paused)")
        let first = try fixture.startWorker()
        try await first.wait(for: "apus_app_paused", #"app="chat""#, toReach: 1)
        _ = try await first.readiness(200, mentioning: "an operator has paused chat (a bad release, by ")
        try await fixture.publish(Self.pushes(0..<50) + Self.pushes(50..<100, app: "mail"))
        _ = try await fixture.accepted(reachingDevices: 50)
        await first.drainCleanly()

        let second = try fixture.startWorker()
        try await fixture.publish(Self.pushes(100..<150) + Self.pushes(150..<200, app: "mail"))
        let accepted = try await fixture.accepted(reachingDevices: 100)
        #expect(accepted.allSatisfy { $0.topic == "com.example.mail" })
        #expect(try await second.metric("apus_pushes_total", #"app="chat",service="apns",outcome="accepted""#) == 0)

        #expect(try await fixture.apus("resume", "chat").output == "Nothing is paused any more.\n")
        #expect(try await fixture.accepted(reachingDevices: 200).count == 200, "none twice")
        _ = try await second.readiness(200, mentioning: #""status":"ok""#)
        #expect(try await second.metric("apus_app_paused", #"app="chat""#) == 0)
        #expect(try await fixture.deadLetters().isEmpty)
        await second.drainCleanly()
        try await fixture.stop()
    }

    @Test("While all are paused nothing is consumed, also by a worker that starts or reloads; resumed, all goes out")
    func all() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.apus("pause", "--all").exitCode == 0)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200, mentioning: "an operator has paused all apps")
        try await worker.wait(for: "apus_consumer_paused", toReach: 1)
        try await fixture.publish(Self.pushes(0..<500))
        try await fixture.waitForMessages(500)

        let plain = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", "[worker]\npush_timeout = \"70s\"\n" + plain)
        worker.command.signal(SIGHUP)
        try await worker.command.wait(for: "config.reloaded")
        try await worker.wait(for: "apus_consumer_paused", toReach: 1)
        try await fixture.waitForMessages(500)

        #expect(try await fixture.apus("resume", "--all").exitCode == 0)
        #expect(try await fixture.accepted(reachingDevices: 500).count == 500)
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("The commands say what is paused, refuse what is wrong, and write each change into the audit log")
    func commands() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.apus("pause").output == "Nothing is paused.\n")
        #expect(try await fixture.apus("pause", "--reason", "why").exitCode == 64)
        #expect(try await fixture.apus("pause", "chat", "--all").exitCode == 64)
        let unknown = try await fixture.apus("pause", "chats")
        #expect(unknown.exitCode == 65 && unknown.errors.contains("expected one of chat, mail"))
        #expect(try await fixture.apus("resume").exitCode == 64)
        #expect(try await fixture.apus("resume", "chat").exitCode == 65)
        #expect(try await fixture.apus("pause", "chat", "mail", "--reason", "x\u{1B}[2J").exitCode == 0)
        #expect(try await fixture.apus("pause", "--all").exitCode == 0)
        let list = try await fixture.apus("pause")
        #expect(list.output.split(separator: "\n").map { $0.prefix { $0 != " " } } == ["all", "chat", "mail"])
        #expect(!list.output.contains("\u{1B}"))
        #expect(try await fixture.apus("pause", "--json").output.contains(#"{"app":"chat","reason":"x\u001b[2J""#))
        let resumed = try await fixture.apus("resume", "chat", "mail")
        #expect(resumed.exitCode == 0 && resumed.output.hasPrefix("all apps  paused since "))
        let single = try await fixture.apus("resume", "chat")
        #expect(single.errors.contains("is not paused by itself, but all are: apus resume --all"))
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .existing)
        let entries = try registry.auditEntries(before: nil, limit: 10)
        #expect(entries.map(\.action) == ["resume", "resume", "pause", "pause", "pause"])
        #expect(entries.map(\.target) == ["app mail", "app chat", "all apps", "app mail", "app chat"])
        #expect(entries.allSatisfy { $0.progress.state == .done })
        try await fixture.stop()
    }
}
