import APNsSimulator
import PushTestKit
import Testing

@Suite("The worker, with its registry in PostgreSQL")
struct WorkerPostgresTests {
    /// One line of an import for each device, which belongs to an identity of its own.
    static func lines(_ count: Int) -> String {
        (0..<count).map { index in
            #"{"deviceId":"device-\#(index)","platform":"APNS","token":"\#(TestDevices.token(index))","#
                + #""app":"chat","identityPoolId":"\#(TestEvents.pool)","#
                + #""identityId":"\#(TestDevices.identity(index))","registeredAt":1600000000000,"#
                + #""datasets":["notes"]}"# + "\n"
        }.joined()
    }

    private static func configuration(_ url: String) -> String { "[registry]\nurl = \"\(url)\"" }

    @Test("Devices are imported, found, pushed to and pruned, and the password is said nowhere")
    func pushesAndPrunes() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = server.url(
            database: database, user: "secure",
            parameters: "sslmode=verify-full&sslrootcert=\(server.certificateFile)")
        let fixture = try await WorkerFixture(
            script: #"{"token":"\#(TestDevices.token(7))","answer":"unregistered","since":1600000000001}"#,
            configuration: Self.configuration(url))
        var said: [CommandResult] = []
        let imported = try await fixture.apus("device", "import", input: Self.lines(100))
        #expect(imported.exitCode == 0, "\(imported)")
        said.append(imported)
        let check = try await fixture.apus("check", "--connect", "--values")
        #expect(check.output.contains("127.0.0.1:\(server.port)/\(database) has 100 devices"), "\(check)")
        said.append(check)
        said.append(try await fixture.apus("dataset", "subscribe", "device-1", "photos"))
        let shown = try await fixture.apus("dataset", "list", "device-1", "--json")
        #expect(shown.output.contains(#""photos""#), "\(shown)")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<100).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        _ = try await fixture.accepted(reachingDevices: 99)
        try await worker.wait(for: "apus_tokens_pruned_total", toReach: 1)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        said.append(end)
        let left = try await fixture.apus("device", "show", "device-7")
        #expect(left.exitCode == 65, "\(left)")
        for result in said + [shown, left] {
            #expect(!result.output.contains(server.password) && !result.errors.contains(server.password))
        }
        try await fixture.stop()
    }

    @Test("Two workers on one database make one push of a subscription that fires once, and each push of others once")
    func sharesSubscriptions() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let url = server.url(database: try await server.makeDatabase())
        let fixture = try await WorkerFixture(configuration: Self.configuration(url))
        let imported = try await fixture.apus("device", "import", input: Self.lines(2))
        #expect(imported.exitCode == 0, "\(imported)")
        for (name, device, once) in [("once", "device-0", ["--fires-once"]), ("each", "device-1", [])] {
            let arguments = [
                "subscription", "save", name, "--app", "chat", "--device", device, "--type", "Song", "--alert", name,
            ]
            let saved = try await CommandRunner.apus(arguments + once, in: fixture.folder)
            #expect(saved.exitCode == 0, "\(saved)")
        }
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.publish((0..<200).map { TestEvents.record("\($0)", name: "song-\($0)") })
        try await fixture.waitForMessages(0)
        for worker in workers { await worker.drainCleanly() }
        let tokens = try await fixture.simulator.recorded().map(\.deviceToken)
        #expect(tokens.count { $0 == TestDevices.token(0) } == 1)
        #expect(tokens.count { $0 == TestDevices.token(1) } == 200)
        try await fixture.stop()
    }

    @Test("While PostgreSQL is away the worker is not ready, and afterwards nothing is lost")
    func outage() async throws {
        let server = try await PrivatePostgreSQL.start()
        defer { server.stop() }
        let url = server.url(database: try await server.makeDatabase())
        let fixture = try await WorkerFixture(configuration: Self.configuration(url))
        let imported = try await fixture.apus("device", "import", input: Self.lines(60))
        #expect(imported.exitCode == 0, "\(imported)")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<30).map { WorkerFixture.datasetChanged("a\($0)", identity: $0, syncCount: 1) })
        _ = try await fixture.accepted(reachingDevices: 30)
        try server.kill()
        try await fixture.publish(
            (30..<60).map { WorkerFixture.datasetChanged("b\($0)", identity: $0, syncCount: 1) })
        let body = try await worker.readiness(503)
        #expect(body.contains("registry") && !body.contains(server.password), "\(body)")
        let refused = try await fixture.apus("device", "show", "device-1")
        #expect(refused.exitCode == 69 && !refused.errors.contains(server.password), "\(refused)")
        try await server.startAgain()
        _ = try await fixture.accepted(reachingDevices: 60)
        _ = try await worker.readiness(200)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        #expect(!end.errors.contains(server.password))
        try await fixture.stop()
    }
}
