import AMQP
import EventLoop
import Foundation
import Messages
import PushTestKit
import Testing

@Suite("A worker that tells backends of their pushes", .timeLimit(.minutes(10)))
struct WorkerOutcomeTests {
    /// A fixture whose app asks for outcomes.
    private func fixture(_ outcomes: String, script: String = "", configuration: String = "") async throws
        -> WorkerFixture
    {
        let fixture = try await WorkerFixture(script: script, configuration: configuration)
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", text.replacing("[[app]]", with: "[[app]]\noutcomes = \(outcomes)"))
        return fixture
    }

    /// Makes a queue of a backend, bound to all outcomes.
    private func declareQueue(_ name: String, of fixture: WorkerFixture, maximum: Int64) async throws {
        let endpoint = try AMQPEndpoint(fixture.broker.url)
        let exchange = "\(fixture.namespace).outcomes"
        let loop = try EventLoop(name: "declare")
        defer { loop.stopAndJoin() }
        try await loop.run {
            let session = try AMQPSession(endpoint, options: AMQPOptions())
            defer { session.close() }
            try session.declareQueue(
                name,
                arguments: [
                    MessageHeader("x-queue-type", .string("quorum")), MessageHeader("x-max-length", .int64(maximum)),
                    MessageHeader("x-overflow", .string("reject-publish")),
                ])
            try session.bindQueue(name, exchange: exchange, routingKey: "#")
        }
    }

    @Test("'apus outcomes tail' shows each push of an event as it ends, of the outcomes that are asked for")
    func tail() async throws {
        let fixture = try await fixture(
            #"["all"]"#, script: #"{"token":"\#(TestDevices.token(1))","answer":"unregistered"}"#)
        try fixture.registerReaders(3)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let all = try RunningCommand(["outcomes", "tail", "--limit", "3"], in: fixture.folder)
        let whole = try RunningCommand(
            ["outcomes", "tail", "--event", "e\u{301}", "--limit", "1"], in: fixture.folder)
        let dead = try RunningCommand(
            ["outcomes", "tail", "--app", "chat", "--outcome", "token-dead", "--json", "--limit", "1"],
            in: fixture.folder)
        try await all.wait(for: "listening")
        try await dead.wait(for: "listening")
        try await whole.wait(for: "listening")
        try await fixture.publish([TestEvents.pushRequested("p1", to: .topic("news"))])
        let lines = await all.end()
        #expect(lines.exitCode == 0, "\(lines)")
        let rows = lines.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(rows.first == ["TIME", "OUTCOME", "APP", "TYPE", "EVENT", "DEVICE", "REASON"])
        #expect(
            Set(rows.dropFirst().map { $0.dropFirst().joined(separator: " ") }) == [
                "accepted chat push.requested p1 device-0 -", "accepted chat push.requested p1 device-2 -",
                "token-dead chat push.requested p1 device-1 Unregistered",
            ])
        let json = await dead.end()
        #expect(json.exitCode == 0 && json.output.contains(#""reason":"Unregistered""#), "\(json)")
        #expect(!json.output.contains("device-0"))
        // The first identifier is another one, though it looks the same.
        try await fixture.publish(
            ["é", "e\u{301}"].map {
                Message(
                    body: Array(
                        TestEvents.pushRequested($0, to: .topic("news"), notification: #"{"titel":"x"}"#).utf8))
            })
        let row = await whole.end()
        #expect(row.exitCode == 0, "\(row)")
        #expect(
            row.output.split(separator: "\n").last?.split(separator: "\t").dropFirst().joined(separator: " ").utf8
                .elementsEqual("dead-lettered chat push.requested e\u{301} - unknown-field".utf8) == true, "\(row)")
        let nobody = try RunningCommand(
            ["outcomes", "tail", "--outcome", "unmatched", "--limit", "1"], in: fixture.folder)
        try await nobody.wait(for: "listening")
        try await fixture.publish([TestEvents.pushRequested("p2", to: .users(["nobody"]))])
        let unmatched = await nobody.end()
        #expect(unmatched.output.contains("\tunmatched\tchat\tpush.requested\tp2\tnobody\tno-device"), "\(unmatched)")
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Outcomes that nobody collects fill their queue, are dropped and counted then, and stop no push")
    func fullQueue() async throws {
        let fixture = try await fixture(#"["accepted"]"#, configuration: "[outcomes]\npatience = \"0ms\"")
        let queue = "\(fixture.namespace).outcomes.lazy"
        try await declareQueue(queue, of: fixture, maximum: 5)
        try fixture.register(20)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        // One after the other: a queue takes some more before it tells publishers that it is full.
        for identity in 0..<20 {
            try await fixture.publish([WorkerFixture.datasetChanged("\(identity)", identity: identity, syncCount: 1)])
            _ = try await fixture.accepted(reachingDevices: identity + 1)
        }
        #expect(try await worker.metric("apus_outcomes_dropped_total") > 0)
        #expect(try await fixture.broker.messageCount(queue: queue) >= 5)
        let end = await worker.drain()
        #expect(end.exitCode == 0 && end.errors.contains("outcomes.dropped"), "\(end)")
        #expect(try await fixture.broker.messageCount(queue: "\(fixture.namespace).work") == 0)
        try await fixture.broker.control("delete_queue", queue)
        try await fixture.stop()
    }

    @Test("Without the exchange a worker pushes on, and tells again when the exchange is back")
    func missingExchange() async throws {
        let fixture = try await fixture(#"["accepted"]"#, configuration: "[outcomes]\npatience = \"0ms\"")
        try fixture.register(200)
        try await fixture.broker.evaluate(
            """
            rabbit_exchange:delete(
                rabbit_misc:r(<<"/">>, exchange, <<"\(fixture.namespace).outcomes">>), false, <<"tests">>).
            """)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        try await fixture.publish([WorkerFixture.datasetChanged("0", identity: 0, syncCount: 1)])
        _ = try await fixture.accepted(reachingDevices: 1)
        try await worker.wait(for: "apus_outcomes_dropped_total", toReach: 1)
        let applied = try await fixture.apus("topology", "apply")
        #expect(applied.exitCode == 0, "\(applied)")
        // The worker does not try before a second has passed.
        var identity = 0
        try await eventually("an outcome") {
            identity += 1
            try await fixture.publish([WorkerFixture.datasetChanged("\(identity)", identity: identity, syncCount: 1)])
            _ = try await fixture.accepted(reachingDevices: identity + 1)
            return try await worker.metric("apus_outcomes_published_total") > 0
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("A tail says what is wrong: no app that publishes outcomes, an unknown outcome, no exchange")
    func tailErrors() async throws {
        let silent = try await WorkerFixture()
        let none = try await silent.apus("outcomes", "tail")
        #expect(none.exitCode == 78 && none.errors.contains("set app.N.outcomes"), "\(none)")
        try await silent.stop()
        let fixture = try await fixture(#"["accepted"]"#)
        let unknown = try await fixture.apus("outcomes", "tail", "--outcome", "lost")
        #expect(unknown.exitCode == 64 && unknown.errors.contains("accepted, token-dead"), "\(unknown)")
        let missing = try await fixture.apus("outcomes", "tail", "--set", "rabbitmq.namespace=nowhere")
        #expect(missing.exitCode == 78 && missing.errors.contains("nowhere.outcomes"), "\(missing)")
        let port = fixture.broker.port
        let refused = try await fixture.apus(
            "outcomes", "tail", "--set", "rabbitmq.url=amqp://guest:hunter2@127.0.0.1:\(port)/")
        #expect(refused.exitCode == 77 && refused.errors.contains("ACCESS_REFUSED"), "\(refused)")
        #expect(!refused.errors.contains("hunter2"))
        let wrong = try await fixture.apus("check", "--set", "app.0.outcomes=lost")
        #expect(wrong.exitCode == 78 && wrong.output.contains("\"lost\" is no outcome"), "\(wrong)")
        try await fixture.stop()
    }
}
