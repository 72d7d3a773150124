import Crypto
import Notifications
import PushServiceSimulator
import PushTestKit
import Testing
import WebPushSimulator

@Suite("A worker that pushes to browsers", .timeLimit(.minutes(10)))
struct WorkerWebPushTests {
    /// Runs a worker with browsers at the push services of all vendors, one each and a second one at Mozilla's.
    private func run(
        script: String = "", http1Origins: Set<String> = [], pushTimeout: String = "60s",
        _ body: (WorkerFixture, WebPushSimulator, WorkerProcess) async throws -> Void
    ) async throws {
        let fixture = try await WorkerFixture(
            configuration: """
                [worker]
                push_timeout = "\(pushTimeout)"
                [webpush]
                trusted_hosts = ["localhost"]
                ca_file = "webpush.pem"

                """)
        let key = try ES256PrivateKey.generate()
        try fixture.folder.write("vapid.pem", key.pem)
        var configuration = WebPushSimulatorConfiguration()
        configuration.applicationServerKey = key.publicPoint
        configuration.recordsInMemoryMaximum = 100_000
        for index in configuration.origins.indices {
            configuration.origins[index].speaksHTTP1 = http1Origins.contains(configuration.origins[index].name)
        }
        configuration.script = try SubscriptionScript(parsing: Array(script.utf8))
        let simulator = try await WebPushSimulator.start(configuration)
        try fixture.folder.write("webpush.pem", simulator.trustAnchorPEM)
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            text + """

                [app.webpush]
                key_file = "vapid.pem"
                subject = "mailto:push@example.com"
                """)
        try await register(fixture, simulator)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await body(fixture, simulator, worker)
        let end = await worker.drain()
        #expect(end.exitCode == 0, "\(end)")
        try await simulator.stop()
        try await fixture.stop()
    }

    private static let browserCount = 6

    private func register(_ fixture: WorkerFixture, _ simulator: WebPushSimulator) async throws {
        var lines: [String] = []
        try simulator.forEachSubscription(Self.browserCount) { subscription in
            let line = subscription.deviceLine(app: "chat", ["userId": "mei"])
            // A new one would not be taken for gone at once.
            lines.append(#"{"registeredAt":1,"# + line.dropFirst())
        }
        let token = TestDevices.token(0)
        lines.append(#"{"deviceId":"iphone","platform":"APNS","token":"\#(token)","app":"chat","userId":"mei"}"#)
        let file = try fixture.folder.write("devices.ndjson", lines.joined(separator: "\n") + "\n")
        let result = try await fixture.apus("device", "import", file)
        try #require(result.exitCode == 0, "\(result)")
    }

    @Test(
        "One event reaches an iPhone and browsers at every vendor's service, encrypted, over HTTP/2 or HTTP/1.1",
        arguments: [[], ["wns", "mozilla"]])
    func everyVendor(http1Origins: Set<String>) async throws {
        try await run(http1Origins: http1Origins) { fixture, simulator, worker in
            let notification = #"{"title":"T","body":"B","data":{"room":"7"}}"#
            try await fixture.publish([
                TestEvents.pushRequested("p1", to: .users(["mei"]), notification: notification)
            ])
            try await simulator.waitForAnswers(Self.browserCount)
            let records = try await simulator.recorded()
            #expect(records.count == Self.browserCount && records.allSatisfy { $0.status == 201 && !$0.isReused })
            #expect(Set(records.map(\.origin)) == Set(simulator.originNames))
            for record in records {
                let text = String(decoding: record.plaintext ?? [], as: UTF8.self)
                #expect(text.contains(#""title":"T""#) && text.contains(#""data":{"room":"7"}"#), "\(text)")
            }
            try await worker.wait(
                for: "apus_pushes_total", #"service="webpush",outcome="accepted""#, toReach: Self.browserCount)
            try await worker.wait(for: "apus_pushes_total", #"service="apns",outcome="accepted""#, toReach: 1)
        }
    }

    @Test(
        "Gone subscriptions are removed, throttled ones are served later, and one service in trouble holds up none",
        arguments: [[], ["mozilla", "wns", "apple"]])
    func dispositions(http1Origins: Set<String>) async throws {
        let script = """
            {"subscription":"mozilla-0000000","answer":"gone"}
            {"subscription":"wns-0000000","answer":"throttled","retry_after":1,"times":1}
            {"subscription":"apple-0000000","answer":"silent","times":1}
            """
        try await run(script: script, http1Origins: http1Origins, pushTimeout: "2s") { fixture, simulator, worker in
            try await fixture.publish([TestEvents.pushRequested("p1", to: .users(["mei"]))])
            try await worker.wait(for: "apus_pushes_total", #"service="webpush",outcome="token_dead""#, toReach: 1)
            try await worker.wait(
                for: "apus_pushes_total", #"service="webpush",outcome="accepted""#, toReach: Self.browserCount - 1)
            let list = try await fixture.apus("device", "list")
            #expect(!list.output.contains("mozilla-0000000"), "\(list)")
            #expect(list.output.contains("wns-0000000") && list.output.contains("apple-0000000"))
            #expect(try await simulator.summary().earlyAfterRetryAfter == 0)
        }
    }
}
