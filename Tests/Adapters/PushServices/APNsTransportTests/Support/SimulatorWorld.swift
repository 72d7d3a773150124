import APNsSimulator
import APNsTransport
import ConnectionPool
import Crypto
import Foundation
import PushServiceSimulator
import ServiceClient

/// A client with one route to a simulator, which has rules of its own.
struct SimulatorWorld {
    let simulator: APNsSimulator
    let fixture: ClientFixture
    private let trustAnchorsFile: String

    /// Starts both.
    ///
    /// - Parameters:
    ///   - script: the simulator's answers for particular tokens.
    ///   - limits: changes the limits of the pool.
    ///   - authorizer: makes what authenticates in place of the provider token; gets the key.
    ///   - change: changes the simulator.
    /// - Throws: if there is no port, no thread or no certificate.
    init(
        script: String = "", limits: (inout PoolLimits) -> Void = { _ in },
        authorizer: (ES256PrivateKey) throws -> (any Authorizer)? = { _ in nil },
        simulator change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) async throws {
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration()
        configuration.teamKeys = [
            .init(teamID: "DEF123GHIJ", keyID: "ABC123DEFG", publicKeyPEM: key.publicKeyPEM)
        ]
        configuration.recordsInMemoryMaximum = 10_000
        configuration.script = try AnswerScript(parsing: Array(script.utf8), nowMilliseconds: 1_700_000_000_000)
        change(&configuration)
        simulator = try await APNsSimulator.start(configuration)
        let file = FileManager.default.temporaryDirectory.appending(path: "apus-simulator-\(UUID().uuidString).pem")
        try Data(simulator.trustAnchorPEM.utf8).write(to: file)
        fixture = try ClientFixture(
            port: simulator.port, trustAnchorsFile: file.path, limits: limits, key: key,
            authorizer: try authorizer(key))
        trustAnchorsFile = file.path
    }

    /// Ends both.
    func end() async throws -> SimulatorSummary {
        await fixture.client.close()
        let summary = try await simulator.stop()
        try FileManager.default.removeItem(atPath: trustAnchorsFile)
        return summary
    }
}
