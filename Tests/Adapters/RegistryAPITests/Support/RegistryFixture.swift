import EventLoop
import Metrics
import PushCore
import PushTestKit
import RegistryAPI
import SQLiteRegistry

/// A registry in a file, served.
struct RegistryFixture {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    static let otherPool = "us-east-1:11111111-2c08-43f0-9983-28727e0a1b2c"
    static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    let folder: TemporaryFolder
    let server: RegistryServer
    let metrics = MetricsRegistry()

    /// Serves a new registry.
    init(
        quotas: RegistryQuotas = .unlimited, _ change: (inout RegistryServerConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        var configuration = RegistryServerConfiguration(
            host: "127.0.0.1", port: 0,
            apps: [
                RegistryAPIApp(name: "chat", bundleID: "com.example.chat", identityPoolIDs: [Self.pool]),
                RegistryAPIApp(
                    name: "mail", bundleID: "com.example.mail",
                    identityPoolIDs: ["us-east-1:22222222-2c08-43f0-9983-28727e0a1b2c"]),
            ],
            accessKeys: [
                AccessKey(identifier: "AKIDEXAMPLE", secret: Self.secret),
                AccessKey(identifier: "AKIDLIMITED", secret: Self.secret, identityPoolIDs: [Self.otherPool]),
            ])
        change(&configuration)
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        registry.quotas = quotas
        server = try RegistryServer(
            configuration: configuration, registry: registry,
            reader: try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readOnly), metrics: metrics,
            logger: .silent)
    }

    /// Another connection to the registry.
    func registry() throws -> SQLiteRegistry {
        try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
    }

    /// Runs a scenario of the Python script against the server.
    func python(
        _ scenario: String, endpoint: String? = nil, environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await BotoScript.run(
            [endpoint ?? "http://127.0.0.1:\(server.port)", scenario], environment: environment, in: folder)
    }
}
