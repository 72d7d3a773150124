import Foundation
import PushTestKit
import Testing

@Suite("apus init and apus check")
struct CommandLineInitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String..., environment: [String: String] = [:]) async throws -> CommandResult {
        try await CommandRunner.apus(arguments, environment: environment, in: folder)
    }

    @Test("init writes a file for its owner only, leaves an existing one alone, and overwrites it with --force")
    func initWrites() async throws {
        let first = try await apus("init")
        #expect(first.exitCode == 0)
        let text = try folder.read("apus.toml")
        #expect(try await apus("init", "--stdout").output == text)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/apus.toml")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try folder.write("apus.toml", "mine")
        let second = try await apus("init")
        #expect(second.exitCode == 73)
        #expect(second.errors.contains("apus.toml already exists"))
        #expect(try folder.read("apus.toml") == "mine")
        #expect(try await apus("init", "--force").exitCode == 0)
        #expect(try folder.read("apus.toml") == text)
        #expect(try await apus("init", "no/such/folder/x").exitCode == 73)
    }

    @Test("init --local leaves only the simulator's certificate to be made, keeps keys, and repeats nothing secret")
    func local() async throws {
        let first = try await apus("init", "--local")
        #expect(first.exitCode == 0 && first.errors.contains("apus simulate --listen 127.0.0.1:8443"), "\(first)")
        #expect(first.errors.hasPrefix("wrote apus.toml, AuthKey_ABC123DEFG.p8, access-keys, registry.db\n"))
        let secrets = try ["AuthKey_ABC123DEFG.p8", "access-keys"].map { try folder.read($0) }
        for name in ["AuthKey_ABC123DEFG.p8", "access-keys", "registry.db"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        #expect(try await apus("device", "list").exitCode == 0)
        let again = try await apus("init", "--local", "--force")
        #expect(again.exitCode == 0 && again.errors.hasPrefix("wrote apus.toml\n"), "\(again)")
        #expect(try ["AuthKey_ABC123DEFG.p8", "access-keys"].map { try folder.read($0) } == secrets)
        #expect(!secrets[1].split(separator: " ").contains { (first.output + first.errors).contains($0) })
        let checked = try await apus("check")
        #expect(checked.output.split(separator: "\n").filter { $0.hasPrefix("error: ") }.count == 1, "\(checked)")
        #expect(checked.output.contains("app.0.apns.ca_file: cannot read ca.pem: there is no such file"), "\(checked)")
    }

    @Test("check finds in a fresh sample only that the key is missing")
    func checkSample() async throws {
        _ = try await apus("init")
        let result = try await apus("check")
        #expect(result.exitCode == 78)
        #expect(result.output.contains("AuthKey_ABC123DEFG.p8: there is no such file"))
        #expect(result.output.contains("app.0.apns.key_file"))
        #expect(result.output.split(separator: "\n").filter { $0.hasPrefix("error: ") }.count == 1)
    }

    @Test("check is content with a configuration that is right, and shows it without secrets")
    func checkRight() async throws {
        _ = try await apus("init")
        let key = try await CommandRunner.run(
            "/usr/bin/openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "AuthKey_ABC123DEFG.p8"],
            in: folder)
        #expect(key.exitCode == 0)
        let environment = ["APUS_RABBITMQ_URL": "amqp://me:s3cr3t@h/"]
        let result = try await apus("check", environment: environment)
        #expect(result.exitCode == 0)
        #expect(!result.output.contains("error: "))
        let json = try await apus("check", "--json", environment: environment)
        #expect(json.exitCode == 0)
        #expect(json.output.contains(#""value":["amqp://me:[redacted]@h/"]"#))
        #expect(!(result.output + result.errors + json.output + json.errors).contains("s3cr3t"))
    }

    @Test("check --json gives the problems as data")
    func checkJSON() async throws {
        try folder.write("bad.toml", "[rabbitmq]\nprefetch = 0")
        let result = try await apus("check", "--json", "--config", "bad.toml", "--set", "log.level=x")
        #expect(result.exitCode == 78)
        let expected =
            #"{"severity":"error","origin":"bad.toml:2","key":"rabbitmq.prefetch","message":"0 is invalid","#
            + #""remedy":"give a whole number from 1 to 65535"}"#
        #expect(result.output.contains(expected), "\(result.output)")
        #expect(result.output.contains(#""origin":"--set","key":"log.level""#))
    }
}
