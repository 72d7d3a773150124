import APNsSimulator
import PushTestKit
import Testing

@Suite("Events over HTTP, with RabbitMQ and a worker as processes", .timeLimit(.minutes(10)))
struct WorkerEventsTests {
    private static let configuration = "[registry]\nlisten = \"127.0.0.1:0\"\nevents = true"

    /// A token that may publish events of the app.
    private static func publisher(_ fixture: WorkerFixture) async throws -> String {
        let added = try await fixture.apus(
            "registry", "token", "add", "shop", "--app", "chat", "--permission", "publish")
        try #require(added.exitCode == 0, "\(added)")
        return try #require(added.output.split(whereSeparator: \.isWhitespace).last.map(String.init))
    }

    private static func post(_ number: Int, _ token: String, _ port: UInt16) async -> PlainHTTP.Answer {
        await PlainHTTP.requestInBackground(
            "POST", "/v1/events", port: port,
            body: #"{"app":"chat","topic":"news","notification":{"body":"Order \#(number)"}}"#,
            fields: "Authorization: Bearer \(token)\r\nIdempotency-Key: \(number)\r\n")
    }

    @Test("A push that is asked for with a few lines of JSON reaches the phone, and can be explained by its key")
    func onePush() async throws {
        let fixture = try await WorkerFixture(configuration: Self.configuration)
        try fixture.registerReaders(1)
        let token = try await Self.publisher(fixture)
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        let answer = await Self.post(18_231, token, try await worker.registryPort())
        #expect(answer.status == 202 && answer.body == #"{"id":"18231","source":"/tokens/shop"}"#)
        let pushes = try await fixture.accepted(reachingDevices: 1)
        #expect(String(decoding: pushes[0].payload, as: UTF8.self).contains("Order 18231"))
        #expect(try await worker.metric("apus_registry_api_events_total", #"outcome="published""#) == 1)
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Whatever was answered with 202 is pushed, though RabbitMQ is killed while backends publish")
    func brokerIsKilled() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let fixture = try await WorkerFixture(broker: broker, configuration: Self.configuration)
        try fixture.registerReaders(1)
        let token = try await Self.publisher(fixture)
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        let port = try await worker.registryPort()
        let accepted = Watched(0)
        let backends = (0..<4).map { backend in
            Task {
                for number in 0..<50 {
                    // As a backend does: the same event again, until it is accepted.
                    try await eventually("event \(backend).\(number) to be accepted", equals: 202) {
                        await Self.post(100 * backend + number, token, port).status
                    }
                    accepted.update { $0 += 1 }
                }
            }
        }
        for count in [40, 120] {
            #expect(await accepted.wait { $0 >= count })
            try broker.kill()
            try await worker.readiness(503, mentioning: #""registry-api-events","ok":false"#)
            try await broker.startAgain()
        }
        for backend in backends { try await backend.value }
        try await eventually("all pushes", equals: 200) {
            Set(try await fixture.simulator.recorded().filter { $0.status == 200 }.map(\.apnsID)).count
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("apus publish --url publishes a file of events, names the wrong ones, and says what a token may not")
    func command() async throws {
        let fixture = try await WorkerFixture(configuration: Self.configuration + "\n[events]\nhistory = \"1h\"")
        try fixture.registerReaders(1)
        let token = try fixture.folder.write("token", try await Self.publisher(fixture) + "\n")
        let worker = try fixture.startWorker()
        try await worker.readiness(200, mentioning: #""registry-api-events","ok":true"#)
        let url = "http://127.0.0.1:\(try await worker.registryPort())/"
        let events = (0..<250).map { TestEvents.pushRequested("p\($0)", to: .topic("news")) }
        let file = try fixture.folder.write("events.ndjson", events.joined(separator: "\n"))
        let whole = try await fixture.apus("publish", "--url", url, "--token-file", token, "--file", file)
        #expect(whole.exitCode == 0 && whole.errors.contains("250 events published and confirmed"), "\(whole)")
        let other = TestEvents.pushRequested("m", to: .topic("news"), app: "mail")
        let mixed = [events[0], other].joined(separator: "\n")
        // Without a configuration nothing but the API knows the apps.
        let elsewhere = try TemporaryFolder()
        let partly = try await CommandRunner.apus(
            ["publish", "--url", url, "--token-file", token, "--file", "-"], input: mixed, in: elsewhere)
        #expect(partly.exitCode == 65 && partly.errors.contains("line 2: not published"), "\(partly)")
        #expect(partly.errors.contains("1 event published and confirmed"), "\(partly)")
        let followed = try await CommandRunner.apus(
            ["publish", "--wait", "--url", url, "--token-file", token, "--type", "push.requested", "--app", "chat"]
                + ["--topic", "news", "--title", "Hi", "--id", "a/b c"], in: elsewhere)
        #expect(followed.exitCode == 0 && followed.output == "a/b c: 1 accepted\n", "\(followed)")
        let stranger = try fixture.folder.write("stranger", "apus_nobody")
        let refused = try await fixture.apus("publish", "--url", url, "--token-file", stranger, "--file", file)
        #expect(refused.exitCode == 69 && refused.errors.contains("A token is needed"), "\(refused)")
        try await eventually("all pushes", equals: 251) {
            Set(try await fixture.simulator.recorded().filter { $0.status == 200 }.map(\.apnsID)).count
        }
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
