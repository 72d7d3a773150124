import APNsSimulator
import Foundation
import PushTestKit
import SQLiteRegistry
import Testing

@Suite("Changes of records, with workers as processes between RabbitMQ and APNs")
struct WorkerRecordTests {
    private func change(_ identifier: String, _ fields: String, operation: String = "created") -> String {
        TestEvents.record(identifier, operation, name: "song-\(identifier)", fields: fields)
    }

    @Test("A subscription that a command saves is told of the songs that it asks for, until a command deletes it")
    func subscribeAndUnsubscribe() async throws {
        let fixture = try await WorkerFixture()
        let token = TestDevices.token(1)
        _ = try await fixture.apus("device", "add", "--app", "chat", "--token", token, "--id", "d1", "--user", "anna")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let saved = try await fixture.apus(
            "subscription", "save", "mei", "--app", "chat", "--user", "anna", "--type", "Song", "--predicate",
            "artist = \"Mei Chen\" AND price <= 20", "--alert", "{artist}: {title}", "--badge", "--fires-on", "created")
        try #require(saved.exitCode == 0, "\(saved)")
        try await fixture.publish([
            change("1", #"{"artist":"Mei Chen","price":25,"title":"Dear"}"#),
            change("2", #"{"artist":"mei chen","price":20,"title":"Cheap"}"#),
            change("3", #"{"artist":"Mei Chen","price":5,"title":"Old"}"#, operation: "deleted"),
        ])
        try await fixture.simulator.waitForAnswers(1)
        let deleted = try await fixture.apus("subscription", "delete", "mei", "--app", "chat", "--user", "anna")
        try #require(deleted.exitCode == 0, "\(deleted)")
        try await fixture.publish([change("4", #"{"artist":"Mei Chen","price":1,"title":"Late"}"#)])
        let end = await worker.drain()
        #expect(end.exitCode == 0, "\(end.errors)")
        try await fixture.waitForMessages(0)
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.map(\.deviceToken) == [token])
        let payload = String(decoding: try #require(pushes.first).payload, as: UTF8.self)
        #expect(payload.contains(#""alert":"mei chen: Cheap""#) && payload.contains(#""badge":1"#))
        #expect(payload.contains(#""sid":"mei""#) && payload.contains(#""cid":"iCloud.com.example.chat""#))
        try await fixture.stop()
    }

    @Test("Two workers and a thousand events make one push of a subscription that fires once")
    func firesOnceAcrossWorkers() async throws {
        let fixture = try await WorkerFixture()
        let token = TestDevices.token(1)
        _ = try await fixture.apus("device", "add", "--app", "chat", "--token", token, "--id", "d1", "--user", "anna")
        let saved = try await fixture.apus(
            "subscription", "save", "once", "--app", "chat", "--user", "anna", "--type", "Song", "--fires-once",
            "--alert", "first")
        try #require(saved.exitCode == 0, "\(saved)")
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.publish((0..<1_000).map { change("\($0)", "{}") })
        try await fixture.waitForMessages(0)
        for worker in workers { await worker.drainCleanly() }
        #expect(try await fixture.simulator.recorded().map(\.deviceToken) == [token])
        try await fixture.stop()
    }
}
