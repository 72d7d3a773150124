import APNs
import APNsSimulator
import Crypto
import PushServiceSimulator
import PushTestKit
import Synchronization

/// A simulator, and configurations for it.
struct PushService {
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"

    let simulator: APNsSimulator
    let keyPEM: String
    private let folder: TemporaryFolder
    private let trustAnchorsFile: String

    /// Starts a simulator.
    ///
    /// - Parameters:
    ///   - script: its answers for particular tokens, by lines of JSON.
    ///   - change: changes it.
    /// - Throws: if there is no port, no thread or no certificate.
    init(script: String = "", change: (inout SimulatorConfiguration) -> Void = { _ in }) async throws {
        let key = try ES256PrivateKey.generate()
        keyPEM = key.pem
        var configuration = SimulatorConfiguration()
        configuration.teamKeys = [.init(teamID: Self.teamID, keyID: Self.keyID, publicKeyPEM: key.publicKeyPEM)]
        configuration.recordsInMemoryMaximum = 1_000
        configuration.script = try AnswerScript(parsing: Array(script.utf8), nowMilliseconds: 1_700_000_000_000)
        change(&configuration)
        simulator = try await APNsSimulator.start(configuration)
        folder = try TemporaryFolder()
        trustAnchorsFile = try folder.write("anchor.pem", Array(simulator.trustAnchorPEM.utf8))
    }

    func configuration(
        name: String = "default", bundleID: String = "com.example.chat", key: SigningKey? = nil
    ) -> PushConfiguration {
        var configuration = PushConfiguration(
            name: name, bundleID: bundleID, key: key ?? .pem(keyPEM), keyID: Self.keyID, teamID: Self.teamID,
            environment: .endpoint("127.0.0.1:\(simulator.port)"))
        configuration.extraTrustAnchorsFile = trustAnchorsFile
        configuration.timeout = .seconds(60)
        return configuration
    }

    func client() throws -> PushClient { try PushClient(configuration()) }

    /// A token that begins with its number in 8 digits.
    static func token(_ number: Int) throws -> PushToken {
        let digits = String(number, radix: 16)
        return try PushToken(
            String(repeating: "0", count: 8 - digits.count) + digits + String(repeating: "ab", count: 28))
    }
}

/// So many tokens, made when they are asked for and counted then.
struct CountedTokens: Sequence, Sendable {
    let count: Int
    let taken: Counter

    func makeIterator() -> AnyIterator<PushToken> {
        var next = 0
        return AnyIterator {
            guard next < count else { return nil }
            defer { next += 1 }
            taken.add()
            return try? PushService.token(next)
        }
    }
}

/// Counts across tasks.
final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    func add() { storage.wrappingAdd(1, ordering: .relaxed) }

    var value: Int { storage.load(ordering: .relaxed) }
}
