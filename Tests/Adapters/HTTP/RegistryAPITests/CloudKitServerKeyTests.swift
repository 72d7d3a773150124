import PushTestKit
import RegistryAPI
import RegistryCore
import SQLiteRegistry
import Testing

@Suite("The server-to-server keys of CloudKit Web Services")
struct CloudKitServerKeyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes a key as Apple's reference does, and answers its public half.
    private func makeKey(_ name: String) async throws -> [UInt8] {
        let path = "\(folder.path)/\(name)"
        let commands = [
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path], ["ec", "-in", path, "-pubout"],
        ]
        var output = ""
        for command in commands {
            let result = try await CommandRunner.run("/usr/bin/openssl", command, in: folder)
            try #require(result.exitCode == 0, "\(result.errors)")
            output = result.output
        }
        return Array(output.utf8)
    }

    /// Serves a registry to three keys, and runs a scenario of the script against it.
    private func run(_ scenario: String) async throws -> RegistryFixture {
        let publicKey = try await makeKey("key.pem")
        _ = try await makeKey("other.pem")
        let keys = try [("writer", "chat", "write"), ("reader", "chat", "read"), ("mailer", "mail", "write")].map {
            try ServerKey(
                identifier: $0.0, publicKeyPEM: publicKey, app: $0.1, permission: $0.2 == "read" ? .read : .write,
                userID: "_\($0.0)")
        }
        let fixture = try RegistryFixture { $0.serverKeys = keys }
        let root = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let result = try await CommandRunner.run(
            "/usr/bin/python3",
            [
                "/\(root)/Scripts/cloudkit_server_key.py", "\(fixture.server.port)", "\(folder.path)/key.pem",
                "\(folder.path)/other.pem", scenario,
            ], in: folder)
        #expect(result.exitCode == 0, "\(result.errors)")
        return fixture
    }

    @Test("What openssl signs is accepted, within ten minutes, on behalf of the key's user")
    func good() async throws {
        let fixture = try await run("good")
        defer { fixture.server.stop() }
        let key = SubscriptionKey(app: "chat", owner: .user("_writer"), subscriptionID: "art")
        #expect(try fixture.registry().subscription(key) != nil)
        let devices = try fixture.registry().devices(matching: DeviceFilter(userID: "_writer"), after: nil, limit: 9)
        #expect(devices.count == 1)
    }

    @Test("What was signed otherwise, by somebody else or at another time is refused")
    func bad() async throws {
        let fixture = try await run("bad")
        defer { fixture.server.stop() }
        #expect(try fixture.registry().subscriptionCounts().isEmpty)
    }

    @Test("A key reaches the public database of its app, does what it may, and names no user")
    func refused() async throws {
        let fixture = try await run("refused")
        defer { fixture.server.stop() }
        #expect(try fixture.registry().subscriptionCounts().isEmpty)
    }

    @Test("What is no public key of P-256 makes no server key")
    func badKeys() {
        for text in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
            let error = #expect(throws: RegistryServerError.self) {
                _ = try ServerKey(
                    identifier: "k", publicKeyPEM: Array(text.utf8), app: "chat", permission: .read, userID: "u")
            }
            #expect(error?.code == .serverKeyInvalid)
        }
    }
}
