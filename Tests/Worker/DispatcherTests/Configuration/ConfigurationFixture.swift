import Crypto
import PushTestKit
import WorkerConfiguration

/// A folder with a key and a way to load configurations in it.
struct ConfigurationFixture {
    let folder: TemporaryFolder
    let keyPath: String

    init() throws {
        folder = try TemporaryFolder()
        keyPath = try folder.write("key.p8", ES256PrivateKey.generate().pem)
    }

    /// An app that has nothing wrong.
    static let app = """
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.apns]
        key_file = "key.p8"
        key_id = "ABC123DEFG"
        team_id = "DEF123GHIJ"

        """

    /// Loads a file with this text.
    func load(
        _ text: String, environment: [String: String] = [:], set: [(String, String)] = [],
        for purpose: ConfigurationLoader.Purpose = .worker, mode: Int = 0o600
    ) throws -> LoadedConfiguration {
        let path = try folder.write("apus.toml", text, mode: mode)
        return try ConfigurationLoader(
            path: path, environment: environment,
            overrides: set.map { ConfigurationOverride(key: $0.0, value: $0.1) }
        ).load(for: purpose)
    }

    /// Loads a file that has something wrong, and gives each problem as `LINE KEY: MESSAGE; REMEDY`.
    func problems(_ text: String, environment: [String: String] = [:], set: [(String, String)] = []) throws -> [String]
    {
        do {
            _ = try load(text, environment: environment, set: set)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { Self.shortened($0) }
        }
    }

    /// A problem with the number of the line in place of the file's path.
    static func shortened(_ problem: ConfigurationProblem) -> String {
        let location =
            switch problem.origin {
            case .file(_, let line): "\(line)"
            case .environment(let name): name
            case .flag: "set"
            case .standard: "default"
            }
        return "\(location) \(problem.key): \(problem.message); \(problem.remedy)"
    }
}
