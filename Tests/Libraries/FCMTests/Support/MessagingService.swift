import FCM
import FCMSimulator
import PushServiceSimulator
import PushTestKit

/// A simulator of FCM, and configurations for it.
struct MessagingService {
    static let project = "chat-4711"

    /// One account for all tests, because making a key takes long.
    private static let sharedKey = Result { try ServiceAccountKey(projectID: project) }

    let simulator: FCMSimulator
    let folder: TemporaryFolder
    let trustAnchorsFile: String
    /// The file of the service account.
    let accountFile: String

    static func account() throws -> ServiceAccountKey { try sharedKey.get() }

    /// Starts a simulator.
    ///
    /// - Parameters:
    ///   - script: its answers for particular targets, by lines of JSON.
    ///   - change: changes it.
    /// - Throws: if there is no port, no thread or no certificate.
    init(script: String = "", change: (inout FCMSimulatorConfiguration) throws -> Void = { _ in }) async throws {
        var configuration = FCMSimulatorConfiguration()
        configuration.projectID = Self.project
        configuration.accounts = [try Self.account().account]
        configuration.recordsInMemoryMaximum = 1_000
        configuration.script = try TargetScript(parsing: Array(script.utf8))
        try change(&configuration)
        simulator = try await FCMSimulator.start(configuration)
        folder = try TemporaryFolder()
        trustAnchorsFile = try folder.write("anchor.pem", simulator.trustAnchorPEM)
        accountFile = try folder.write(
            "account.json",
            try Self.account().credentialsJSON(tokenURI: "https://localhost:\(simulator.port)/token"))
    }

    func configuration(name: String = "default") -> FCMConfiguration {
        var configuration = FCMConfiguration(name: name, serviceAccount: .file(accountFile))
        configuration.endpoint = "localhost:\(simulator.port)"
        configuration.extraTrustAnchorsFile = trustAnchorsFile
        configuration.timeout = .seconds(60)
        return configuration
    }

    func client() throws -> FCMClient { try FCMClient(configuration()) }

    /// A token that begins with its number in 4 digits.
    static func token(_ number: Int) throws -> FCMTarget {
        let digits = String(number)
        let zeros = String(repeating: "0", count: 4 - digits.utf8.count)
        return try FCMTarget(token: zeros + digits + ":APA91bF-token")
    }
}
