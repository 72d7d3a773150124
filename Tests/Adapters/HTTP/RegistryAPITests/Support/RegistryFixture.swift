import EventLoop
import Metrics
import Notifications
import PostgresRegistry
import PushTestKit
import RegistryAPI
import RegistryCore
import SQLiteRegistry
import StructuredLogging

/// A new registry, served.
struct RegistryFixture {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    static let otherPool = "us-east-1:11111111-2c08-43f0-9983-28727e0a1b2c"
    static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    let folder: TemporaryFolder
    let server: RegistryServer
    let metrics = MetricsRegistry()
    private let location: Location

    /// Where the registry is.
    private enum Location {
        case file(String)
        case database(url: String)

        func open(
            _ mode: RegistryOpenMode, quotas: RegistryQuotas = .unlimited
        ) throws -> sending any ServedRegistry {
            switch self {
            case .file(let path):
                let registry = try SQLiteRegistry.open(path: path, mode: mode)
                registry.quotas = quotas
                return registry
            case .database(let url):
                let registry = try PostgresRegistry.open(
                    url: url, mode: mode, callMilliseconds: 120_000, connectMilliseconds: 60_000)
                registry.quotas = quotas
                return registry
            }
        }
    }

    /// Serves a new registry of a kind.
    init(
        _ kind: ServedStore.Kind, quotas: RegistryQuotas = .unlimited,
        _ change: (inout RegistryServerConfiguration) -> Void = { _ in }
    ) async throws {
        switch kind {
        case .sqlite: try self.init(quotas: quotas, change)
        case .postgres:
            let server = try await PrivatePostgreSQL.shared()
            let url = server.url(database: try await server.makeDatabase())
            try self.init(.database(url: url), in: try TemporaryFolder(), quotas, change)
        }
    }

    /// Serves a new registry in a file.
    init(
        quotas: RegistryQuotas = .unlimited, _ change: (inout RegistryServerConfiguration) -> Void = { _ in }
    ) throws {
        let folder = try TemporaryFolder()
        try self.init(.file(folder.path + "/registry.db"), in: folder, quotas, change)
    }

    private init(
        _ location: Location, in folder: TemporaryFolder, _ quotas: RegistryQuotas,
        _ change: (inout RegistryServerConfiguration) -> Void
    ) throws {
        self.location = location
        self.folder = folder
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
        server = try RegistryServer(
            configuration: configuration, registry: try location.open(.create, quotas: quotas),
            reader: try location.open(.readOnly), metrics: metrics, logger: .silent)
    }

    /// Another connection to the registry.
    func registry() throws -> sending any ServedRegistry { try location.open(.readWrite) }

    /// Runs a scenario of the Python script against the server.
    func python(
        _ scenario: String, endpoint: String? = nil, environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await BotoScript.run(
            [endpoint ?? "http://127.0.0.1:\(server.port)", scenario], environment: environment, in: folder)
    }
}
