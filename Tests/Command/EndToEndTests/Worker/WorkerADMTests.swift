import ADMSimulator
import PushServiceSimulator
import PushTestKit
import Testing

@Suite("A worker that pushes to ADM", .timeLimit(.minutes(10)))
struct WorkerADMTests {
    @Test(
        "Kindles get an event that iPhones get; a dead one is removed, a throttled one waits, a renewed one has its ID")
    func kindles() async throws {
        let fixture = try await WorkerFixture()
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "s3cr3t"]
        configuration.recordsInMemoryMaximum = 1_000
        configuration.script = try RegistrationScript(
            parsing: Array(
                """
                {"registration":"amzn1.adm-registration.v3.kindle-1","answer":"unregistered"}
                {"registration":"amzn1.adm-registration.v3.kindle-2","answer":"throttled","times":1,"retry_after":"1"}
                {"registration":"amzn1.adm-registration.v3.kindle-3","answer":"replaced","successor":"amzn1.renewed"}
                """.utf8))
        let simulator = try ADMSimulator.start(configuration)
        try fixture.folder.write("adm.pem", simulator.trustAnchorPEM)
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            text + """

                [app.adm]
                client_id = "client"
                client_secret = "s3cr3t"
                endpoint = "localhost:\(simulator.port)"
                token_url = "https://localhost:\(simulator.port)/auth/O2/token"
                ca_file = "adm.pem"
                """)
        for (name, platform, token) in [
            ("iphone", "APNS", TestDevices.token(0)), ("first", "ADM", "amzn1.adm-registration.v3.kindle-1"),
            ("second", "ADM", "amzn1.adm-registration.v3.kindle-2"),
            ("third", "ADM", "amzn1.adm-registration.v3.kindle-3"),
        ] {
            let added = try await fixture.apus(
                "device", "add", "--app", "chat", "--id", name, "--user", "mei", "--platform", platform, "--token",
                token)
            try #require(added.exitCode == 0, "\(added)")
        }
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([
            TestEvents.pushRequested("p1", to: .users(["mei"]), notification: #"{"title":"T","body":"B"}"#)
        ])
        try await worker.wait(for: "apus_pushes_total", #"service="adm",outcome="accepted""#, toReach: 2)
        try await worker.wait(for: "apus_pushes_total", #"service="adm",outcome="token_dead""#, toReach: 1)
        try await worker.wait(for: "apus_pushes_total", #"service="apns",outcome="accepted""#, toReach: 1)
        let list = try await fixture.apus("device", "list")
        #expect(!list.output.contains("first\t") && list.output.contains("second\t"), "\(list)")
        #expect(list.output.contains("(13 characters)"), "\(list)")
        let end = await worker.drain()
        #expect(end.exitCode == 0 && !end.errors.contains("s3cr3t"), "\(end)")
        _ = simulator.stop()
        try await fixture.stop()
    }
}
