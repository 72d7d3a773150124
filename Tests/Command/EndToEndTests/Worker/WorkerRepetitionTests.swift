import APNsSimulator
import ChangeEvents
import Glibc
import Messages
import PushTestKit
import Testing

@Suite("Events that come again, with RabbitMQ and workers as processes", .timeLimit(.minutes(10)))
struct WorkerRepetitionTests {
    private static let repeated = #"type="push.requested",outcome="repeated""#

    /// An event as a publisher over AMQP sends it.
    private static func message(_ identifier: String, isRemembered: Bool = true) -> Message {
        var message = TestEvents.message(TestEvents.pushRequested(identifier, to: .topic("news")))
        if isRemembered { message.askToBeRemembered() }
        return message
    }

    @Test("An event with the header x-remember is pushed once, however often it is published; one without it each time")
    func overAMQP() async throws {
        let fixture = try await WorkerFixture()
        try fixture.registerReaders(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(["1", "1", "1"].map { Self.message($0) })
        try await worker.wait(for: "apus_events_total", Self.repeated, toReach: 2)
        try await fixture.publish([Self.message("1"), Self.message("2", isRemembered: false)])
        try await fixture.publish([Self.message("2", isRemembered: false), Self.message("3")])
        try await worker.wait(for: "apus_events_total", Self.repeated, toReach: 3)
        try await fixture.simulator.waitForAnswers(4)
        await worker.drainCleanly()
        // Another worker knows what the first has pushed.
        let second = try fixture.startWorker()
        _ = try await second.readiness(200)
        try await fixture.publish(["1", "3", "4"].map { Self.message($0) })
        try await second.wait(for: "apus_events_total", Self.repeated, toReach: 2)
        try await fixture.simulator.waitForAnswers(5)
        await second.drainCleanly()
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.count == 5 && Set(pushes.map(\.apnsID)).count == 4)
        try await fixture.stop()
    }

    @Test("An event is pushed again when its time has passed")
    func expiry() async throws {
        let fixture = try await WorkerFixture(configuration: "[events]\nremember = \"1s\"")
        try fixture.registerReaders(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await eventually("a second push", equals: 2) {
            try await fixture.publish([Self.message("1")])
            return try await fixture.simulator.recorded().count
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("A worker that is killed before it could remember an event repeats it once, with the same apns-id")
    func killBeforeRemembering() async throws {
        let fixture = try await WorkerFixture()
        try fixture.registerReaders(1)
        let first = try fixture.startWorker()
        _ = try await first.readiness(200)
        try await fixture.publish([Self.message("0"), Self.message("0")])
        try await first.wait(for: "apus_events_total", Self.repeated, toReach: 1)
        let lock = try RegistryLock(path: fixture.folder.path + "/registry.db")
        try await fixture.publish([Self.message("1")])
        try await fixture.simulator.waitForAnswers(2)
        first.command.signal(SIGKILL)
        _ = await first.command.end()
        lock.release()
        let second = try fixture.startWorker()
        try await fixture.simulator.waitForAnswers(3)
        try await fixture.publish(["0", "1", "1"].map { Self.message($0) })
        try await second.wait(for: "apus_events_total", Self.repeated, toReach: 3)
        await second.drainCleanly()
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.count == 3 && Set(pushes.map(\.apnsID)).count == 2)
        try await fixture.stop()
    }

    @Test("A key stands for one content: the same is answered in the same way and pushed once, another is refused")
    func overHTTP() async throws {
        let fixture = try await WorkerFixture(configuration: "[registry]\nlisten = \"127.0.0.1:0\"\nevents = true")
        try fixture.registerReaders(1)
        let added = try await fixture.apus(
            "registry", "token", "add", "shop", "--app", "chat", "--permission", "publish")
        let token = try #require(added.output.split(whereSeparator: \.isWhitespace).last)
        func post(_ text: String, _ worker: WorkerProcess) async throws -> PlainHTTP.Answer {
            await PlainHTTP.requestInBackground(
                "POST", "/v1/events", port: try await worker.registryPort(),
                body: #"{"app":"chat","topic":"news","notification":{"body":"\#(text)"}}"#,
                fields: "Authorization: Bearer \(token)\r\nIdempotency-Key: order-1\r\n")
        }
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        for _ in 0..<3 {
            let answer = try await post("Paid", worker)
            #expect(answer.status == 202 && answer.body == #"{"id":"order-1","source":"/tokens/shop"}"#)
        }
        #expect(try await post("Sent", worker).status == 409)
        try await worker.wait(for: "apus_events_total", Self.repeated, toReach: 2)
        await worker.drainCleanly()
        // The next process knows the content from the registry alone.
        let second = try fixture.startWorker()
        try await second.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        let refused = try await post("Sent", second)
        #expect(refused.status == 409 && refused.body.contains("Idempotency-Key"), "\(refused)")
        #expect(try await post("Paid", second).status == 202)
        try await second.wait(for: "apus_events_total", Self.repeated, toReach: 1)
        await second.drainCleanly()
        #expect(try await fixture.simulator.recorded().count == 1)
        try await fixture.stop()
    }
}
