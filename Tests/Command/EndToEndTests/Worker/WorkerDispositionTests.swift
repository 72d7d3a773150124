import APNsSimulator
import Crypto
import Messages
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("The worker, when APNs finds fault")
struct WorkerDispositionTests {
    private static let otherPool = "us-east-1:277a950c-2c08-43f0-9983-28727e0a1b2c"

    /// Adds an app whose key APNs does not know, with as many devices.
    private func addAppWithWrongKey(to fixture: WorkerFixture, devices count: Int) throws {
        try fixture.folder.write("wrong.p8", ES256PrivateKey.generate().pem)
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            configuration + """

                [[app]]
                name = "mail"
                bundle_id = "com.example.mail"
                identity_pools = ["\(Self.otherPool)"]
                [app.apns]
                key_file = "wrong.p8"
                key_id = "WRONGKEY01"
                team_id = "DEF123GHIJ"
                endpoint = "127.0.0.1:\(fixture.simulator.port)"
                ca_file = "anchor.pem"
                """)
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .create)
        for index in 0..<count {
            let identity = TestDevices.identity(index)
            try registry.upsert([
                Device(
                    deviceID: "mail-\(index)", platform: .apns, token: try WorkerFixture.token(5_000 + index),
                    app: "mail", identityPoolID: Self.otherPool, identityID: identity,
                    registeredAtMilliseconds: 1_600_000_000_000)
            ])
            try registry.recordDatasets([
                DatasetKey(identityPoolID: Self.otherPool, identityID: identity, datasetName: "notes")
            ])
            try registry.subscribe("mail-\(index)", toDataset: "notes")
        }
    }

    @Test("A wrong key requeues the pushes of its app only, and those of the others are sent")
    func wrongKeyOfOneApp() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(200)
        try addAppWithWrongKey(to: fixture, devices: 50)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let events = (0..<200).flatMap { index in
            let event = WorkerFixture.datasetChanged("chat\(index)", identity: index, syncCount: 1)
            guard index < 50 else { return [event] }
            let other = WorkerFixture.datasetChanged("mail\(index)", identity: index, syncCount: 1)
            return [other.replacing(TestEvents.pool, with: Self.otherPool), event]
        }
        try await fixture.publish(events)
        let body = try await worker.readiness(200, mentioning: "the key of mail")
        #expect(body.contains("degraded") && !body.contains("chat"), "\(body)")
        try await worker.wait(
            for: "apus_pushes_total", #"app="mail",service="apns",outcome="requeued_retry""#, toReach: 50)
        _ = try await fixture.accepted(reachingDevices: 200)
        let asked = try await fixture.simulator.recorded().count { $0.status == 403 }
        #expect(asked < 50, "the breaker asks now and then, not for each push")
        #expect(try await worker.metric("apus_pushes_total", #"outcome="requeued_dead_letter""#) == 0)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        try await fixture.stop()
    }

    @Test("A key that is for one environment only keeps back the devices of the other, and the worker says which")
    func keyOfOneEnvironment() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(100)
        let token = String(repeating: "e", count: 64)
        let added = try await fixture.apus(
            "device", "add", "--id", "developer", "--app", "chat", "--platform", "APNS_SANDBOX", "--token", token)
        #expect(added.exitCode == 0, "\(added)")
        let fault = #"{"fault":"answer","token":"eeee","status":403,"reason":"BadEnvironmentKeyIdInToken"}"#
        try fixture.simulator.execute(Array(fault.utf8))
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([
            TestEvents.message(TestEvents.pushRequested("to-developer", to: .devices(["developer"])))
        ])
        try await worker.wait(for: "apus_app_key_refused", toReach: 1)
        try await fixture.publish(
            (0..<100).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        _ = try await fixture.accepted(reachingDevices: 100)
        _ = try await worker.readiness(200, mentioning: "does not accept the key of chat")
        let end = await worker.drain()
        #expect(end.errors.contains(#""environment":"development""#), "\(end.errors)")
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        try await fixture.stop()
    }

    @Test("When APNs calls all tokens bad, no device is removed and the pushes wait for the configuration")
    func allTokensBad() async throws {
        let fixture = try await WorkerFixture(script: #"{"token":"aaaa","answer":"bad-device-token"}"#)
        try fixture.register(60)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<60).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await worker.wait(for: "apus_pushes_total", #"outcome="requeued_retry""#, toReach: 60)
        #expect(try await worker.metric("apus_tokens_pruned_total") == 0)
        #expect(worker.command.errors.contains("push.tokens.in-doubt"))
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .readOnly)
        #expect(try registry.deviceCount() == 60)
        // They come back from the retry queue, to tokens that were rejected: now in quarantine.
        try await worker.wait(for: "apus_push_quarantined_total", toReach: 1)
        _ = await worker.drain()
        try await fixture.stop()
    }

    @Test("Pushes of wrong types to alert tokens delete nothing, and those to tokens of their kind arrive")
    func wrongPushTypes() async throws {
        let fixture = try await WorkerFixture(
            script: """
                {"token":"aaaa","kind":"alert","answer":"accept"}
                {"token":"bbbb","kind":"voip","answer":"accept"}
                """)
        try fixture.register(150)
        let call = String(repeating: "b", count: 64)
        let added = try await fixture.apus("device", "token", "add", "device-0", "--kind", "voip", "--token", call)
        #expect(added.exitCode == 0, "\(added)")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        func event(_ identifier: String, _ type: String, _ notification: String, _ target: TestEvents.Target) -> Message
        {
            TestEvents.message(
                TestEvents.pushRequested(
                    identifier, to: target, notification: notification, options: #"{"pushType":"\#(type)"}"#))
        }
        let start =
            #"{"body":"b","event":"start","timestamp":5,"contentState":{},"attributesType":"A","attributes":{}}"#
        let kinds = [
            ("complication", #"{"body":"b"}"#), ("widgets", #"{"contentChanged":true}"#), ("liveactivity", start),
            ("location", #"{"body":"b"}"#), ("pushtotalk", #"{"body":"b"}"#),
        ]
        var messages: [Message] = []
        for number in 0..<300 {
            let (type, notification) = kinds[number % kinds.count]
            // Registered tokens are refused before they are pushed to; APNs refuses those that are not registered.
            let device = number / 2
            let target: TestEvents.Target =
                switch number % 3 {
                case 0: .tokens([TestDevices.token(device)])
                case 1: .devices(["device-\(device)"])
                default: .tokens([TestDevices.token(1_000 + device)])
                }
            messages.append(event("w\(number)", type, notification, target))
            messages.append(event("a\(number)", "alert", #"{"body":"b"}"#, .devices(["device-\(device)"])))
        }
        messages.append(event("call", "voip", #"{"body":"b"}"#, .devices(["device-0", "device-1"])))
        try await fixture.publish(messages)
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 301)
        try await worker.wait(for: "apus_dead_letters_total", #"reason="no-token""#, toReach: 200)
        #expect(try await worker.metric("apus_tokens_pruned_total") == 0)
        #expect(try await worker.metric("apus_devices_without_token_total", #"kind="voip""#) == 1)
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .readOnly)
        #expect(try registry.deviceCount() == 150)
        #expect(try registry.tokens(of: ["device-0"])[0].map(\.kind) == [.voip])
        let recorded = try await fixture.simulator.recorded()
        #expect(recorded.contains { $0.reason == "DeviceTokenNotForTopic" })
        let calls = recorded.filter { $0.topic == "com.example.chat.voip" }
        #expect(calls.map(\.deviceToken) == [call] && calls.map(\.status) == [200])
        _ = await worker.drain()
        try await fixture.stop()
    }

    @Test("A device is removed if its token was dead after it was registered, and kept if that was before")
    func prunesByTime() async throws {
        let (dead, reborn) = (TestDevices.token(0), TestDevices.token(1))
        let fixture = try await WorkerFixture(
            script: """
                {"token":"\(dead)","answer":"unregistered","since":1600000000001}
                {"token":"\(reborn)","answer":"unregistered","since":1599999999999}
                """)
        try fixture.register(3)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<3).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await worker.wait(for: "apus_pushes_total", #"outcome="token_dead""#, toReach: 2)
        try await worker.wait(for: "apus_tokens_pruned_total", toReach: 1)
        _ = await worker.drain()
        #expect(try await fixture.apus("device", "show", "device-0").exitCode != 0)
        #expect(try await fixture.apus("device", "show", "device-1").exitCode == 0)
        #expect(try await fixture.apus("device", "show", "device-2").exitCode == 0)
        try await fixture.stop()
    }
}
