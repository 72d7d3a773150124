import APNsSimulator
import Crypto
import Glibc
import PushTestKit
import Testing

/// `apus registry`, and the same API served by a worker.
struct RegistryCommandTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let key = "AKIDEXAMPLE wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            "apus.toml",
            """
            [registry]
            access_keys_file = "keys"
            [admin]
            listen = "127.0.0.1:0"
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            identity_pools = ["\(Self.pool)"]
            [app.apns]
            key_file = "no-such-file.p8"
            key_id = "ABC123DEFG"
            team_id = "DEF123GHIJ"
            """)
        try folder.write("keys", "# a comment\n\n\(Self.key)\n")
    }

    private func endpoint(of command: RunningCommand) async throws -> String {
        try await command.wait(for: "\n", in: \.output)
        let line = try #require(command.output.split(separator: "\n").first)
        try #require(line.hasPrefix("ready at "), "\(line)")
        return String(line.dropFirst("ready at ".count))
    }

    @Test("It serves boto3 without a key for APNs, and ends in order")
    func servesAlone() async throws {
        let command = try RunningCommand(["registry", "--set", "registry.listen=127.0.0.1:0"], in: folder)
        let result = try await BotoScript.run([try await endpoint(of: command), "flow"], in: folder)
        #expect(result.exitCode == 0, "\(result.errors)")
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
        let listed = try await CommandRunner.apus(["device", "list"], in: folder)
        #expect(listed.output.split(separator: "\n").count == 6)
    }

    @Test("Its readiness tells when the file of the registry is gone, and when it is back")
    func tellsOfLostFile() async throws {
        let command = try RunningCommand(["registry", "--set", "registry.listen=127.0.0.1:0"], in: folder)
        _ = try await endpoint(of: command)
        let name = #""event":"admin.listening","port":"#
        try await command.wait(for: name, in: \.errors)
        let rest = try #require(command.errors.ranges(of: name).first).upperBound
        let port = try #require(UInt16(command.errors[rest...].prefix { $0.isNumber }))
        #expect(PlainHTTP.request("GET", "/readyz", port: port).status == 200)
        #expect(rename(folder.path + "/registry.db", folder.path + "/aside") == 0)
        try await eventually("readiness to be red") {
            let answer = PlainHTTP.request("GET", "/readyz", port: port)
            return answer.status == 503 && answer.body.contains("registry.db was removed")
        }
        #expect(rename(folder.path + "/aside", folder.path + "/registry.db") == 0)
        try await eventually("readiness to be green") {
            PlainHTTP.request("GET", "/readyz", port: port).status == 200
        }
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
    }

    @Test("The quotas of the configuration hold for the API's clients", arguments: [false, true])
    func obeysQuotas(isPostgres: Bool) async throws {
        let server = isPostgres ? try await PrivatePostgreSQL.shared() : nil
        var url = "sqlite:registry.db"
        if let server { url = server.url(database: try await server.makeDatabase()) }
        let settings = ["registry.url=\(url)", "registry.quotas.subscriptions_per_owner=1"].flatMap { ["--set", $0] }
        let token = try await CommandRunner.apus(
            ["registry", "token", "add", "test", "--permission", "write"] + settings, in: folder)
        let bearer = try #require(token.output.split(separator: "\n").first, "\(token.errors)")
        let command = try RunningCommand(["registry", "--set", "registry.listen=127.0.0.1:0"] + settings, in: folder)
        let address = try await endpoint(of: command)
        let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
        let body = #"{"recordType":"Song"}"#
        let statuses = ["first", "second"].map { name in
            PlainHTTP.exchange(
                "PUT /v1/apps/chat/users/mei/subscriptions/\(name) HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer \(bearer)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)", port
            ).status
        }
        #expect(statuses == [200, 403])
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
    }

    @Test("Rights that are not granted yet end it with 69, so that a supervisor starts it again")
    func missingRights() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = server.url(database: database)
        let made = try await CommandRunner.apus(
            ["registry", "token", "add", "t", "--set", "registry.url=\(url)"], in: folder)
        #expect(made.exitCode == 0, "\(made)")
        let user = "late_\(database)"
        try await server.run("CREATE USER \(user) PASSWORD '\(server.password)'", database: database)
        let settings = ["--set", "registry.url=\(url.replacing("//apus:", with: "//\(user):"))"]
        let refused = try await CommandRunner.apus(
            ["registry", "--set", "registry.listen=127.0.0.1:0"] + settings, in: folder)
        #expect(refused.exitCode == 69 && refused.errors.contains("rights"), "\(refused)")
        try await server.run(
            "GRANT USAGE ON SCHEMA apus TO \(user); GRANT ALL ON ALL TABLES IN SCHEMA apus TO \(user)",
            database: database)
        let command = try RunningCommand(
            ["registry", "--set", "registry.listen=127.0.0.1:0"] + settings, in: folder)
        _ = try await endpoint(of: command)
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
    }

    @Test("With --json it says where it is for programs")
    func announcesJSON() async throws {
        let command = try RunningCommand(["registry", "--json", "--set", "registry.listen=127.0.0.1:0"], in: folder)
        try await command.wait(for: "\n", in: \.output)
        #expect(command.output.hasPrefix(#"{"endpoint":"http://127.0.0.1:"#))
        command.signal(SIGINT)
        #expect(await command.end().exitCode == 0)
    }

    @Test(
        "What would be open, broken or half is refused with the exit code 78",
        arguments: [
            "registry.listen=0.0.0.0:8080", "registry.listen=127.0.0.1.example:80", "registry.listen=nonsense",
            "registry.access_keys_file=nowhere", "registry.access_keys=short key", "registry.access_keys=\(key)",
            "registry.certificate_file=keys", "registry.key_file=keys", "registry.requests_per_second=0",
        ])
    func refusals(_ setting: String) async throws {
        let result = try await CommandRunner.apus(["registry", "--set", setting], in: folder)
        #expect(result.exitCode == 78, "\(result)")
        #expect(!result.errors.contains("wJalr"))
    }

    @Test("An address that is taken is refused with the exit code 69")
    func addressTaken() async throws {
        let command = try RunningCommand(["registry", "--set", "registry.listen=127.0.0.1:0"], in: folder)
        let address = try await endpoint(of: command).dropFirst("http://".count)
        let result = try await CommandRunner.apus(["registry", "--set", "registry.listen=\(address)"], in: folder)
        #expect(result.exitCode == 69)
        #expect(result.errors.contains("registry.listen"))
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
    }

    @Test("A worker that serves the API pushes to the device that boto3 has registered")
    func registeredDeviceIsPushed() async throws {
        let fixture = try await WorkerFixture(
            configuration: """
                [registry]
                listen = "127.0.0.1:0"
                access_keys = "\(Self.key)"
                """)
        try fixture.register(0)
        let worker = try fixture.startWorker()
        let port = try await worker.registryPort()
        let identity = TestDevices.identity(7)
        let registered = try await BotoScript.run(
            ["http://127.0.0.1:\(port)", "register_and_subscribe", TestDevices.token(7), identity, "notes"],
            in: fixture.folder)
        #expect(registered.exitCode == 0, "\(registered.errors)")
        try await fixture.publish([WorkerFixture.datasetChanged("e1", identity: 7, syncCount: 3)])
        let pushes = try await fixture.accepted(reachingDevices: 1)
        #expect(pushes.map(\.deviceToken) == [TestDevices.token(7)])
        let metrics = try await worker.get("/metrics").body
        #expect(metrics.contains(#"apus_registry_api_requests_total{operation="RegisterDevice",status="2xx"} 1"#))
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("With a certificate it serves by TLS, and a certificate without its key is refused")
    func servesByTLS() async throws {
        let identities = try (0..<2).map { _ in
            try ServerIdentity.selfSigned(
                names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        }
        let anchor = try folder.write("cert.pem", identities[0].certificateChainPEM)
        try folder.write("key.pem", identities[0].privateKeyPEM)
        try folder.write("other.pem", identities[1].privateKeyPEM)
        let settings = ["--set", "registry.listen=127.0.0.1:0", "--set", "registry.certificate_file=cert.pem"]
        let command = try RunningCommand(["registry", "--set", "registry.key_file=key.pem"] + settings, in: folder)
        let address = try await endpoint(of: command).split(separator: "127.0.0.1").joined(separator: "localhost")
        #expect(address.hasPrefix("https://"))
        let result = try await BotoScript.run([address, "flow"], environment: ["AWS_CA_BUNDLE": anchor], in: folder)
        #expect(result.exitCode == 0, "\(result.errors)")
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
        let refused = try await CommandRunner.apus(
            ["registry", "--set", "registry.key_file=other.pem"] + settings, in: folder)
        #expect(refused.exitCode == 78 && refused.errors.contains("certificate"), "\(refused)")
    }

    @Test("It serves a registry in PostgreSQL as well")
    func servesPostgreSQL() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let url = server.url(database: try await server.makeDatabase())
        let command = try RunningCommand(
            ["registry", "--set", "registry.listen=127.0.0.1:0", "--set", "registry.url=\(url)"], in: folder)
        let address = try await endpoint(of: command)
        let flow = try await BotoScript.run([address, "flow"], in: folder)
        #expect(flow.exitCode == 0, "\(flow.errors)")
        let pool = try await BotoScript.run([address, "pool_configuration"], in: folder)
        #expect(pool.exitCode == 0, "\(pool.errors)")
        command.signal(SIGTERM)
        let end = await command.end()
        #expect(end.exitCode == 0 && !end.errors.contains(server.password), "\(end.errors)")
    }

    @Test("What is subscribed to by HTTP just before an event is told of it, and what was ended just before is not")
    func subscribedJustBefore() async throws {
        let count = 200
        let fixture = try await WorkerFixture(
            configuration: "[registry]\nlisten = \"127.0.0.1:0\"\nrequests_per_second = 10000")
        try fixture.register(0)
        let token = try await fixture.apus("registry", "token", "add", "test", "--app", "chat", "--permission", "write")
        let worker = try fixture.startWorker()
        let port = try await worker.registryPort()
        func send(_ method: String, _ path: String, _ body: String = "") -> Int {
            let bearer = token.output.split(separator: "\n").first ?? ""
            return PlainHTTP.exchange(
                "\(method) /v1/\(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(bearer)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)", port
            ).status
        }
        for index in 0..<count {
            let device = #"{"platform":"APNS","token":"\#(TestDevices.token(index))"}"#
            #expect(send("PUT", "devices/d\(index)", device) == 201)
            let subscription = #"{"recordType":"Song","predicate":"n = \#(index)","notificationInfo":{"title":"new"}}"#
            #expect(send("PUT", "devices/d\(index)/subscriptions/s", subscription) == 200)
        }
        for index in stride(from: 1, to: count, by: 2) {
            #expect(send("DELETE", "devices/d\(index)/subscriptions/s") == 204)
        }
        try await fixture.publish(
            (0..<count).map { index in
                TestEvents.record("e\(index)", name: "r\(index)", fields: #"{"n":\#(index)}"#)
            })
        let pushes = try await fixture.accepted(reachingDevices: count / 2)
        await worker.drainCleanly()
        let expected = stride(from: 0, to: count, by: 2).map { TestDevices.token($0) }
        #expect(pushes.map(\.deviceToken).sorted() == expected.sorted())
        #expect(try await fixture.simulator.recorded().count == count / 2)
        try await fixture.stop()
    }
}
