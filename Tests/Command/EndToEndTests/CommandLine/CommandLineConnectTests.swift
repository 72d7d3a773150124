import APNsSimulator
import Crypto
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("apus check --connect")
struct CommandLineConnectTests {
    private let folder: TemporaryFolder
    private let broker: PrivateRabbitMQ
    private let namespace = PrivateRabbitMQ.makeNamespace()

    init() async throws {
        folder = try TemporaryFolder()
        broker = try await PrivateRabbitMQ.shared()
        try folder.write("key.p8", ES256PrivateKey.generate().pem)
    }

    private func write(endpoint: String) throws {
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "\(broker.url)"
            namespace = "\(namespace)"
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            [app.apns]
            key_file = "key.p8"
            key_id = "ABC123DEFG"
            team_id = "DEF123GHIJ"
            endpoint = "\(endpoint)"
            ca_file = "anchor.pem"
            """)
    }

    private func startSimulator() async throws -> APNsSimulator {
        let key = try ES256PrivateKey(pem: Array(folder.read("key.p8").utf8))
        var configuration = SimulatorConfiguration()
        configuration.teamKeys = [.init(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", publicKeyPEM: key.publicKeyPEM)]
        return try await APNsSimulator.start(configuration)
    }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(arguments, in: folder)
    }

    @Test("Everything a worker needs is tried, and what fails says why")
    func everythingIsTried() async throws {
        let simulator = try await startSimulator()
        try folder.write("anchor.pem", simulator.trustAnchorPEM)
        try write(endpoint: "127.0.0.1:\(simulator.port)")
        let before = try await apus("check", "--connect")
        #expect(before.exitCode == 78, "\(before)")
        #expect(before.output.contains("OK      broker: "))
        #expect(before.output.contains(": RabbitMQ "))
        #expect(before.output.contains("SKIPPED policies: rabbitmq.management_url is not set"))
        #expect(before.output.contains("FAILED  topology: "))
        #expect(before.output.contains("\(namespace).work: missing"))
        #expect(before.output.contains("FAILED  registry: "))

        #expect(try await apus("topology", "apply").exitCode == 0)
        _ = try SQLiteRegistry.open(path: "\(folder.path)/registry.db", mode: .create)
        let after = try await apus("check", "--connect")
        #expect(after.exitCode == 0, "\(after)")
        for probe in ["broker", "topology", "registry", "key chat", "apns chat 127.0.0.1:\(simulator.port)"] {
            #expect(after.output.contains("OK      \(probe): "), "\(after.output)")
        }
        _ = try await simulator.stop()
        let stopped = try await apus("check", "--connect", "--json")
        #expect(stopped.exitCode == 69)
        #expect(stopped.output.contains(#""name":"apns chat 127.0.0.1:\#(simulator.port)","result":"failed""#))
    }

    @Test("A password that the broker refuses is the exit code 77, and is not shown")
    func refusedPassword() async throws {
        try folder.write(
            "anchor.pem",
            ServerIdentity.selfSigned(
                names: ["localhost"], notBeforeSeconds: 1_700_000_000, notAfterSeconds: 4_000_000_000
            ).certificateChainPEM)
        try write(endpoint: "127.0.0.1:1")
        let url = "amqp://guest:wr0ng@127.0.0.1:\(broker.port)/"
        let result = try await apus("check", "--connect", "--set", "rabbitmq.url=\(url)")
        #expect(result.exitCode == 77, "\(result)")
        #expect(result.output.contains("FAILED  broker: "))
        #expect(result.output.contains("SKIPPED topology: broker failed"))
        #expect(!(result.output + result.errors).contains("wr0ng"))
    }

    @Test("A server that speaks no HTTP/2 or shows a certificate of somebody else is told apart")
    func wrongServers() async throws {
        let simulator = try await startSimulator()
        let stranger = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_700_000_000, notAfterSeconds: 4_000_000_000)
        try folder.write("anchor.pem", stranger.certificateChainPEM)
        try write(endpoint: "127.0.0.1:\(simulator.port)")
        let untrusted = try await apus("check", "--connect")
        #expect(untrusted.output.contains("FAILED  apns chat"))
        #expect(untrusted.output.contains("certificate"), "\(untrusted.output)")
        try write(endpoint: "127.0.0.1:\(broker.port)")
        let notTLS = try await apus("check", "--connect")
        #expect(notTLS.output.contains("FAILED  apns chat"), "\(notTLS.output)")
        _ = try await simulator.stop()
    }

    @Test("A proxy with credentials is gone through, its failures are told, and its password is not shown")
    func throughAProxy() async throws {
        let simulator = try await startSimulator()
        try folder.write("anchor.pem", simulator.trustAnchorPEM)
        try write(endpoint: "127.0.0.1:\(simulator.port)")
        let proxy = try await ConnectProxy.start(.tunnel(authorization: "Basic bWU6czNjcjN0"))
        let through = try await apus(
            "check", "--connect", "--set", "app.0.apns.proxy=http://me:s3cr3t@127.0.0.1:\(proxy.port)")
        #expect(through.output.contains("OK      apns chat 127.0.0.1:\(simulator.port): "), "\(through)")
        #expect(proxy.requests.value.count == 1)
        let refused = try await apus(
            "check", "--connect", "--values", "--set", "app.0.apns.proxy=http://me:wr0ng@127.0.0.1:\(proxy.port)")
        #expect(refused.output.contains("FAILED  apns chat"), "\(refused)")
        #expect(refused.output.contains("refuses the credentials (407"), "\(refused)")
        for result in [through, refused] {
            #expect(!(result.output + result.errors).contains("s3cr3t"))
            #expect(!(result.output + result.errors).contains("wr0ng"))
        }
        try await proxy.stop()
        _ = try await simulator.stop()
    }
}
