import Crypto
import Glibc
import PushTestKit
import Testing

@Suite("The certificate of the registry's API")
struct RegistryCertificateTests {
    /// Whether a client that trusts only a certificate is answered.
    private func isServed(_ port: String, trusting anchor: String, in folder: TemporaryFolder) async throws -> Bool {
        let script = """
            import http.client, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[2])
            connection = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=context)
            connection.request("GET", "/openapi.json")
            print(connection.getresponse().status)
            """
        let result = try await CommandRunner.run("/usr/bin/python3", ["-c", script, port, anchor], in: folder)
        return result.output == "200\n"
    }

    @Test("A renewed certificate is shown after SIGHUP, and a pair that does not fit is told and changes nothing")
    func renewal() async throws {
        let folder = try TemporaryFolder()
        let identities = try (0..<2).map { _ in
            try ServerIdentity.selfSigned(
                names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        }
        for (index, identity) in identities.enumerated() {
            try folder.write("anchor\(index).pem", identity.certificateChainPEM)
        }
        try folder.write("cert.pem", identities[0].certificateChainPEM)
        try folder.write("key.pem", identities[0].privateKeyPEM, mode: 0o600)
        try folder.write(
            "apus.toml",
            """
            [registry]
            listen = "127.0.0.1:0"
            certificate_file = "cert.pem"
            key_file = "key.pem"
            [admin]
            listen = "127.0.0.1:0"
            [log]
            format = "json"
            """)
        let command = try RunningCommand(["registry", "--json"], in: folder)
        try await command.wait(for: "\n", in: \.output)
        let port = String(command.output.split(separator: "\"port\":")[1].prefix { $0.isNumber })
        #expect(try await isServed(port, trusting: "anchor0.pem", in: folder))
        try folder.write("cert.pem", identities[1].certificateChainPEM)
        command.signal(SIGHUP)
        try await command.wait(for: "config.reload.failed", in: \.errors)
        #expect(try await isServed(port, trusting: "anchor0.pem", in: folder))
        try folder.write("key.pem", identities[1].privateKeyPEM, mode: 0o600)
        command.signal(SIGHUP)
        try await command.wait(for: "config.reloaded", in: \.errors)
        #expect(try await isServed(port, trusting: "anchor1.pem", in: folder))
        #expect(try await !isServed(port, trusting: "anchor0.pem", in: folder))
        command.signal(SIGTERM)
        #expect(await command.end().exitCode == 0)
    }
}
