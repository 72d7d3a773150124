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
}
