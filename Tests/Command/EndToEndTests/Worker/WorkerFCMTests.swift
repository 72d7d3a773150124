import APNsSimulator
import FCMSimulator
import Notifications
import PushServiceSimulator
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("A worker that pushes to FCM", .timeLimit(.minutes(10)))
struct WorkerFCMTests {
    private static let account = Result { try ServiceAccountKey(projectID: "chat-4711") }

    private static let android = "dQw4w9WgXcQ:APA91bF-simulated_token"
    private static let installation = "cQw4w9WgXcQabcdefghijk"

    /// Runs a worker with both services, iPhones and Androids.
    private func run(
        script: String = "", pushTimeout: String = "60s",
        _ body: (WorkerFixture, FCMSimulator, WorkerProcess) async throws -> Void
    ) async throws {
        let fixture = try await WorkerFixture(configuration: "[worker]\npush_timeout = \"\(pushTimeout)\"\n")
        var configuration = FCMSimulatorConfiguration()
        configuration.projectID = "chat-4711"
        configuration.accounts = [try Self.account.get().account]
        configuration.script = try TargetScript(parsing: Array(script.utf8))
        configuration.recordsInMemoryMaximum = 100_000
        let simulator = try await FCMSimulator.start(configuration)
        let address = "127.0.0.1:\(simulator.port)"
        try fixture.folder.write("fcm.pem", simulator.trustAnchorPEM)
        try fixture.folder.write(
            "account.json", try Self.account.get().credentialsJSON(tokenURI: "https://\(address)/token"))
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            text + """

                [app.fcm]
                service_account_file = "account.json"
                endpoint = "\(address)"
                ca_file = "fcm.pem"
                """)
        try Self.register(in: fixture)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await body(fixture, simulator, worker)
        let end = await worker.drain()
        #expect(end.exitCode == 0, "\(end)")
        try await simulator.stop()
        try await fixture.stop()
    }

    /// An identity with an iPhone and two Androids, one of which is named by its installation ID.
    private static func register(in fixture: WorkerFixture) throws {
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .create)
        let installation = PushAddressDetails(isInstallationID: true)
        let addresses: [(String, Platform, DeviceToken)] = [
            ("iphone", .apns, try WorkerFixture.token(0)),
            ("android", .gcm, try #require(DeviceToken(text: Array(Self.android.utf8)))),
            ("fid", .gcm, try #require(DeviceToken(text: Array(Self.installation.utf8), details: installation))),
        ]
        for (name, platform, token) in addresses {
            let device = Device(
                deviceID: name, platform: platform, token: token, app: "chat", identityPoolID: TestEvents.pool,
                identityID: TestDevices.identity(0), registeredAtMilliseconds: 1_600_000_000_000)
            try registry.register([DeviceRegistration(device: device, topics: ["news"])])
        }
        try registry.recordDatasets([
            DatasetKey(identityPoolID: TestEvents.pool, identityID: TestDevices.identity(0), datasetName: "notes")
        ])
        for (name, _, _) in addresses { try registry.subscribe(name, toDataset: "notes") }
    }

    @Test("One event reaches iPhones and Androids, in the words of each service")
    func bothServices() async throws {
        try await run { fixture, simulator, worker in
            try await fixture.publish([
                TestEvents.pushRequested("p1", to: .topic("news"), notification: #"{"title":"T","body":"B","badge":2}"#)
            ])
            try await simulator.waitForAnswers(2)
            try await fixture.publish([WorkerFixture.datasetChanged("d1", identity: 0, syncCount: 7)])
            try await simulator.waitForAnswers(4)
            #expect(try await fixture.accepted(reachingDevices: 1).count >= 1)
            let messages = try await simulator.recorded()
            #expect(messages.allSatisfy { $0.status == 200 && !$0.isDuplicate })
            let shown = messages.filter { $0.notification == ["title": "T", "body": "B"] }
            #expect(Set(shown.compactMap(\.target)).count == 2)
            let silent = messages.filter { $0.notification == nil }
            #expect(silent.count == 2 && silent.allSatisfy { $0.data.count == 5 && $0.data["syncCount"] == "7" })
            #expect(silent.allSatisfy { $0.data["source"] == "cognito-sync" && $0.priority == "NORMAL" })
            try await worker.wait(for: "apus_pushes_total", #"service="fcm",outcome="accepted""#, toReach: 4)
            try await worker.wait(for: "apus_pushes_total", #"service="apns",outcome="accepted""#, toReach: 2)
            #expect(try await worker.metric("apus_push_access_token_fetches_total", #"result="granted""#) == 1)
        }
    }

    @Test("What the event says for Android alone takes the place of what it says for all")
    func variant() async throws {
        try await run { fixture, simulator, worker in
            let event = TestEvents.pushRequested("p1", to: .topic("news"), notification: #"{"title":"T","body":"B"}"#)
            let different = #""options":{},"android":{"notification":{"title":"A"},"options":{"priority":5}}"#
            try await fixture.publish([event.replacing(#""options":{}"#, with: different)])
            try await simulator.waitForAnswers(2)
            for message in try await simulator.recorded() {
                #expect(message.notification == ["title": "A", "body": "B"] && message.priority == "NORMAL")
            }
            let push = try #require(try await fixture.accepted(reachingDevices: 1).first)
            #expect(String(decoding: push.payload, as: UTF8.self).contains(#""title":"T""#))
            try await worker.wait(for: "apus_pushes_total", #"service="fcm",outcome="accepted""#, toReach: 2)
        }
    }

    @Test("A registration that FCM has forgotten is removed; what is said of the project keeps every registration")
    func dispositions() async throws {
        let script = """
            {"token":"dQw4","answer":"unregistered"}
            {"fid":"c","answer":"refuse","reason":"BARE_NOT_FOUND","times":1}
            """
        try await run(script: script) { fixture, simulator, worker in
            try await fixture.publish([TestEvents.pushRequested("p1", to: .topic("news"))])
            try await worker.wait(for: "apus_pushes_total", #"service="fcm",outcome="token_dead""#, toReach: 1)
            try await worker.wait(for: "apus_pushes_total", #"service="fcm",outcome="accepted""#, toReach: 1)
            let list = try await fixture.apus("device", "list")
            #expect(!list.output.contains("android\t") && list.output.contains("fid\t"), "\(list)")
            #expect(list.output.contains("iphone\t"))
        }
    }

    @Test("While FCM is silent iPhones are told as ever, and the Androids once it answers again")
    func isolation() async throws {
        let script =
            #"{"token":"dQw4","answer":"silent","times":1}"# + "\n" + #"{"fid":"c","answer":"unavailable","times":1}"#
        try await run(script: script, pushTimeout: "2s") { fixture, simulator, worker in
            try await fixture.publish((0..<50).map { TestEvents.pushRequested("p\($0)", to: .topic("news")) })
            try await worker.wait(for: "apus_pushes_total", #"service="apns",outcome="accepted""#, toReach: 50)
            try await worker.wait(for: "apus_pushes_total", #"service="fcm",outcome="accepted""#, toReach: 100)
            let counts = try await simulator.summary()
            #expect(counts.distinctMessages == 100, "each of the fifty once for each of the two")
        }
    }

    @Test("A push that FCM would refuse becomes a dead letter of the Androids, and the iPhone gets it")
    func refusedByOne() async throws {
        try await run { fixture, _, worker in
            let notification = #"{"body":"hello","data":{"from":"me"}}"#
            try await fixture.publish([TestEvents.pushRequested("p1", to: .topic("news"), notification: notification)])
            try await worker.wait(for: "apus_pushes_total", #"service="apns",outcome="accepted""#, toReach: 1)
            try await worker.wait(
                for: "apus_pushes_total", #"service="fcm",outcome="requeued_dead_letter""#, toReach: 2)
            let letters = try await fixture.apus("dead-letters", "list")
            #expect(letters.output.contains("invalid-notification"), "\(letters)")
        }
    }
}
