import ADMSimulator
import Crypto
import PushServiceSimulator
import PushTestKit
import Testing
import WebPushSimulator

@Suite("apus check --connect, at ADM and the push services of browsers", .timeLimit(.minutes(5)))
struct CheckPushServicesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("vapid.pem", ES256PrivateKey.generate().pem)
    }

    private func startADM(_ change: (inout ADMSimulatorConfiguration) -> Void = { _ in }) throws -> ADMSimulator {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "s3cr3t"]
        change(&configuration)
        let simulator = try ADMSimulator.start(configuration)
        try folder.write("adm.pem", simulator.trustAnchorPEM)
        return simulator
    }

    private func check(_ lines: String, _ arguments: String...) async throws -> CommandResult {
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "amqp://127.0.0.1:1"
            \(lines)
            """)
        return try await CommandRunner.apus(["check", "--connect"] + arguments, in: folder)
    }

    private func adm(_ port: UInt16, secret: String = "s3cr3t") -> String {
        """
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.adm]
        client_id = "client"
        client_secret = "\(secret)"
        endpoint = "localhost:\(port)"
        token_url = "https://localhost:\(port)/auth/O2/token"
        ca_file = "adm.pem"
        """
    }

    private func browsers(_ hosts: [String]) -> String {
        """
        [webpush]
        trusted_hosts = [\(hosts.map { "\"\($0)\"" }.joined(separator: ", "))]
        ca_file = "webpush.pem"
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.webpush]
        key_file = "vapid.pem"
        subject = "mailto:push@example.com"
        """
    }

    @Test("The client of ADM gets an access token, its server answers, and no message is sent")
    func admWorks() async throws {
        let simulator = try startADM()
        let result = try await check(adm(simulator.port))
        #expect(result.output.contains("OK      client chat: client got an access token for 3600 s"), "\(result)")
        #expect(
            result.output.contains("OK      adm chat: certificate verified, localhost:\(simulator.port) answers"),
            "\(result)")
        let summary = simulator.stop()
        #expect((summary.accepted, summary.tokens.issued) == (0, 1))
        let stopped = try await check(adm(simulator.port), "--json")
        for probe in ["client chat", "adm chat"] {
            #expect(stopped.output.contains(#""name":"\#(probe)","result":"failed""#), "\(stopped)")
        }
    }

    @Test("A secret that Amazon refuses is told apart from an endpoint in trouble, and is not shown")
    func admFails() async throws {
        let simulator = try startADM()
        let refused = try await check(adm(simulator.port, secret: "wr0ng"))
        #expect(
            refused.output.contains("FAILED  client chat: the token endpoint answered 401 (invalid_client"),
            "\(refused)")
        #expect(refused.output.contains("compare client_id and client_secret"), "\(refused)")
        #expect(!(refused.output + refused.errors).contains("wr0ng"))
        simulator.add(ADMTokenFaults([.answer(status: 503)]))
        let unavailable = try await check(adm(simulator.port))
        #expect(unavailable.output.contains("FAILED  client chat: the token endpoint answered 503; check token_url"))
        let stranger = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_700_000_000, notAfterSeconds: 4_000_000_000)
        try folder.write("adm.pem", stranger.certificateChainPEM)
        let untrusted = try await check(adm(simulator.port))
        #expect(untrusted.output.contains("FAILED  adm chat: localhost:\(simulator.port): "), "\(untrusted)")
        #expect(untrusted.output.contains("certificate") && untrusted.output.contains("ca_file"), "\(untrusted)")
        simulator.stop()
    }

    @Test("The key for browsers signs, and each service that is named is tried, also one that offers no HTTP/2")
    func browserServices() async throws {
        var configuration = WebPushSimulatorConfiguration()
        for index in configuration.origins.indices {
            configuration.origins[index].speaksHTTP1 = configuration.origins[index].name == "wns"
        }
        let simulator = try await WebPushSimulator.start(configuration)
        try folder.write("webpush.pem", simulator.trustAnchorPEM)
        let hosts = try ["mozilla", "wns"].map { String(try simulator.url(ofOrigin: $0).dropFirst("https://".count)) }
        let result = try await check(browsers(hosts))
        #expect(result.output.contains("OK      vapid chat: "), "\(result)")
        let publicKey = try #require(result.output.split(separator: "applicationServerKey ").last).prefix { $0 != "\n" }
        #expect(publicKey.count == 87 && publicKey.hasPrefix("B"), "\(result)")
        #expect(
            result.output.contains("OK      webpush \(hosts[0]): certificate verified, HTTP/2 negotiated with"),
            "\(result)")
        #expect(result.output.contains("OK      webpush \(hosts[1]): it offers no HTTP/2"), "\(result)")
        #expect(!result.output.contains("googleapis"), "\(result)")
        #expect(try await simulator.stop().answered == 0)
        let stopped = try await check(browsers(hosts))
        #expect(stopped.output.contains("FAILED  webpush \(hosts[0]): "), "\(stopped)")
        #expect(stopped.output.contains("check endpoint, and that the firewall"), "\(stopped)")
    }
}
