import PushTestKit
import Testing

/// The registry that replicas share.
enum ReplicaRegistry: String, CaseIterable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// The lines of the configuration that name it.
    func configuration() async throws -> String {
        switch self {
        case .sqlite: return ""
        case .postgres:
            let server = try await PrivatePostgreSQL.shared()
            return "[registry]\nurl = \"\(server.url(database: try await server.makeDatabase()))\"\n"
        }
    }

    /// Registers devices, each of an identity of its own and subscribed to `notes`.
    func register(_ count: Int, in fixture: WorkerFixture) async throws {
        switch self {
        case .sqlite: try fixture.register(count)
        case .postgres:
            let imported = try await fixture.apus("device", "import", input: WorkerPostgresTests.lines(count))
            try #require(imported.exitCode == 0, "\(imported)")
        }
    }
}
