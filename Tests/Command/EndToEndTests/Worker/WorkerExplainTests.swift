import Foundation
import Messages
import PushTestKit
import Testing

@Suite("What became of one event, from a worker's outcomes and log", .timeLimit(.minutes(10)))
struct WorkerExplainTests {
    @Test("Outcomes name identities, and 'apus explain' tells of an event and of one that is no event")
    func explained() async throws {
        let fixture = try await WorkerFixture(configuration: "level = \"debug\"")
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", text.replacing("[[app]]", with: "[[app]]\noutcomes = [\"all\"]"))
        try fixture.register(2)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let tail = try RunningCommand(["outcomes", "tail", "--json", "--limit", "2"], in: fixture.folder)
        try await tail.wait(for: "listening")
        try await fixture.publish([WorkerFixture.datasetChanged("good", identity: 0, syncCount: 1)])
        let bad = """
            {"specversion": "1.0", "type": "push.requested", "source": "/shop", "id": "bad",
             "data": {"app": "chat", "topic": "news", "notification": {"titel": "x"}}}
            """
        try await fixture.publish([Message(body: Array(bad.utf8))])
        let outcomes = await tail.end()
        #expect(outcomes.exitCode == 0, "\(outcomes)")
        #expect(outcomes.output.contains(#""identityId":"us-east-1:"#), "\(outcomes)")
        try fixture.folder.write("outcomes.ndjson", outcomes.output)
        let end = await worker.drain()
        try fixture.folder.write("worker.log", end.errors)

        let good = try await fixture.apus(
            "explain", "good", "--log", "worker.log", "--outcomes", "outcomes.ndjson")
        #expect(good.exitCode == 0 && good.output.contains("\tlog\tevent.handled"), "\(good)")
        #expect(good.output.contains("\toutcome\tdevice-0 (APNS, chat): accepted"), "\(good)")
        #expect(good.errors.contains("1 push: 1 accepted"), "\(good)")
        // The letter is in the registry when a command has collected it.
        _ = try await fixture.apus("dead-letters", "count")
        let lost = try await fixture.apus("explain", "bad", "--outcomes", "outcomes.ndjson", "--json")
        let told = "dead-lettered as a whole, before its devices were known: unknown-field"
        #expect(lost.exitCode == 0 && lost.output.contains(told), "\(lost)")
        #expect(lost.output.contains(#""origin":"dead-letter""#), "\(lost)")
        let none = try await fixture.apus("explain", "nobody", "--log", "worker.log")
        #expect(none.exitCode == 65 && none.errors.contains("nothing tells of an event"), "\(none)")
        let missing = try await fixture.apus("explain", "good", "--log", "missing.log")
        #expect(missing.exitCode == 66 && missing.errors.contains("cannot read missing.log"), "\(missing)")
        try await fixture.stop()
    }

    @Test("With a history 'apus publish --wait' and 'apus explain' tell the end of each push, without preparation")
    func history() async throws {
        let fixture = try await WorkerFixture(
            script: #"{"token":"\#(TestDevices.token(1))","answer":"unregistered"}"#,
            configuration: "[events]\nhistory = \"1h\"")
        try fixture.registerReaders(3)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let push = ["publish", "--wait", "--type", "push.requested", "--app", "chat", "--title", "Hi"]
        let shown = try await CommandRunner.apus(push + ["--id", "e1", "--topic", "news"], in: fixture.folder)
        #expect(shown.exitCode == 0 && shown.output == "e1: 2 accepted, 1 token-dead\n", "\(shown)")
        #expect(shown.errors.contains("1 event published and confirmed: id e1, source apus-publish"), "\(shown)")
        let nobody = try await CommandRunner.apus(push + ["--id", "e2", "--user-id", "nobody"], in: fixture.folder)
        #expect(nobody.exitCode == 0 && nobody.output == "e2: 1 unmatched\n", "\(nobody)")
        let told = try await fixture.apus("explain", "e1")
        #expect(told.exitCode == 0 && told.errors.contains("3 pushes: 2 accepted, 1 token-dead"), "\(told)")
        #expect(told.output.contains("device-1 (APNS, chat): token-dead because of Unregistered"), "\(told)")
        await worker.drainCleanly()
        // Without a worker nothing ends.
        let open = try await CommandRunner.apus(
            push + ["--id", "e3", "--topic", "news", "--timeout", "1"], in: fixture.folder)
        #expect(open.exitCode == 75 && open.errors.contains("nothing is known yet"), "\(open)")
        let unkept = try await CommandRunner.apus(
            push + ["--topic", "news", "--set", "events.history=0s"], in: fixture.folder)
        #expect(unkept.exitCode == 78 && unkept.errors.contains("events.history"), "\(unkept)")
        try await fixture.stop()
    }
}
