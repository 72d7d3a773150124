import Glibc
public import StructuredLogging
import TOML

/// Reads the configuration from the file, the environment and the command line.
///
/// A key's value is taken from the first of:
///
/// 1. `--set KEY=VALUE`;
/// 2. the environment variable `APUS_` and the key in capitals with `_` for each dot, for example `APUS_RABBITMQ_URL`
///    for `rabbitmq.url`. The keys of apps and sources are numbered from 0, in the order of the file:
///    `APUS_APP_0_APNS_KEY_ID` is `app.0.apns.key_id`. The number after the file's last app makes a new app. For
///    secrets, `…_FILE` names a file that holds the value and, at its end, perhaps one new line. A file `APUS_…` of
///    `$CREDENTIALS_DIRECTORY` is such a file (`ServiceCredentials`);
/// 3. the file;
/// 4. the default.
///
/// Relative paths begin at the file's folder if the file (or the default) gives them, else at the current folder.
public struct ConfigurationLoader: Sendable {
    /// The purpose that the configuration is read for.
    public enum Purpose: Sendable {
        /// A worker: there has to be an app, and the files that are named have to be right.
        case worker
        /// The registry's API alone: the files that it is served with have to be right.
        case registryServer
        /// The service that posts outcomes: the files that it uses have to be right.
        case webhooks
        /// `apus check`: as a worker, and what another process would miss is a warning.
        case check
        /// A command that talks to the broker or the registry: keys and certificates of APNs need not be there.
        case tool
    }

    /// The file that is read if no other is named and it is there.
    public static let standardPath = "apus.toml"

    private let path: String?
    private let environment: [String: String]
    private let overrides: [ConfigurationOverride]

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - path: the file that the user named; nil for `$APUS_CONFIG`, or `apus.toml` if it is there.
    ///   - environment: the process's environment.
    ///   - overrides: the values of `--set`; the last of two equal keys wins.
    public init(path: String?, environment: [String: String], overrides: [ConfigurationOverride] = []) {
        self.path = path ?? environment["APUS_CONFIG"]
        self.environment = ServiceCredentials.added(to: environment)
        self.overrides = overrides
    }

    /// Reads and checks everything.
    ///
    /// - Parameter purpose: how much has to be there.
    /// - Returns: the configuration with its warnings.
    /// - Throws: `ConfigurationError` with all that is wrong.
    public func load(for purpose: Purpose) throws(ConfigurationError) -> LoadedConfiguration {
        var merger = ConfigurationMerger()
        var fileProblems: [ConfigurationProblem] = []
        var usedPath: String?
        do {
            let bytes = try ConfigurationFile.read(path ?? Self.standardPath)
            usedPath = path ?? Self.standardPath
            try merger.add(TOMLDocument.parse(bytes), path: path ?? Self.standardPath)
        } catch let failure as ConfigurationFile.Failure {
            if path != nil || !failure.isMissingFile { fileProblems.append(problem(failure)) }
        } catch let error as TOMLError {
            fileProblems.append(problem(error))
        } catch {
            preconditionFailure("reading a file throws nothing else")
        }
        merger.add(environment: environment)
        merger.add(overrides)
        var reader = ConfigurationReader(merger, path: usedPath, purpose: purpose)
        let configuration = reader.readConfiguration()
        let isAppBroken = reader.problems.contains { $0.key == "app" || $0.key.hasPrefix("app.") }
        if configuration.apps.isEmpty, [.worker, .check].contains(purpose), fileProblems.isEmpty, !isAppBroken {
            reader.problems.append(
                ConfigurationProblem(
                    origin: usedPath.map { .file(path: $0, line: 0) } ?? .standard, key: "app",
                    message: usedPath == nil ? "there is no app, and no \(Self.standardPath) here" : "there is no app",
                    remedy: "add a section [[app]]; 'apus init' writes a sample"))
        }
        // A file that cannot be read makes the complaints about its keys meaningless.
        let problems = fileProblems.isEmpty ? Self.sorted(reader.problems) : fileProblems
        guard problems.isEmpty else {
            let file = path ?? (fileProblems.isEmpty ? usedPath : Self.standardPath)
            throw ConfigurationError(problems: problems, warnings: reader.warnings, path: file)
        }
        return LoadedConfiguration(
            configuration: configuration,
            warnings: Self.sorted(reader.warnings).filter { Self.concerns(purpose, $0.key) },
            path: usedPath,
            effective: reader.effective)
    }

    /// Whether a warning about a key is of use.
    private static func concerns(_ purpose: Purpose, _ key: String) -> Bool {
        switch purpose {
        case .worker, .check, .tool: true
        case .registryServer: key.hasPrefix("registry.")
        case .webhooks: key.hasPrefix("rabbitmq.url") || key.contains(".webhook.")
        }
    }

    private func problem(_ failure: ConfigurationFile.Failure) -> ConfigurationProblem {
        ConfigurationProblem(
            origin: .file(path: path ?? Self.standardPath, line: 0), key: "",
            message: "cannot read the configuration: \(failure.message)", remedy: failure.remedy,
            isTransient: failure.isTransient)
    }

    private func problem(_ error: TOMLError) -> ConfigurationProblem {
        ConfigurationProblem(
            origin: .file(path: path ?? Self.standardPath, line: error.line), key: "",
            message: "this is not TOML: \(error.message)",
            remedy: error.column > 0 ? "look at column \(error.column)" : "")
    }

    /// In the order of the file's lines, then the rest as it was found.
    private static func sorted(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
        func line(_ problem: ConfigurationProblem) -> Int {
            if case .file(_, let line) = problem.origin { line } else { Int.max }
        }
        return problems.enumerated().sorted { (line($0.element), $0.offset) < (line($1.element), $1.offset) }
            .map(\.element)
    }
}

/// The files that systemd hands to a service: `LoadCredential=`, or a mounted folder that looks the same.
///
/// A file `APUS_RABBITMQ_URL` in the folder `$CREDENTIALS_DIRECTORY` is what the variable `APUS_RABBITMQ_URL_FILE`
/// names, and `APUS_APP_0_APNS_KEY` that of `APUS_APP_0_APNS_KEY_FILE`. So a unit loads a whole folder of them, and an
/// operator only adds files.
enum ServiceCredentials {
    /// Returns an environment together with the variables that name the credentials; a variable that is set wins.
    static func added(to environment: [String: String]) -> [String: String] {
        guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else { return environment }
        var result = environment
        for name in names(in: folder) where name.hasPrefix("APUS_") && environment[name] == nil {
            let variable = name + "_FILE"
            if environment[variable] == nil { result[variable] = folder + "/" + name }
        }
        return result
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}

/// A configuration that can be used, and what there is to say about it.
public struct LoadedConfiguration: Sendable {
    /// The configuration.
    public let configuration: Configuration
    /// Warnings: problems that do not invalidate the configuration.
    public let warnings: [ConfigurationProblem]
    /// The file that was read; nil if there was none.
    public let path: String?
    /// Every key with the value that is in force, passwords redacted.
    public let effective: [EffectiveValue]

    /// Logs each warning, at the start and at a reload of a process.
    public func logWarnings(_ logger: Logger) {
        for warning in warnings { logger.log(.warning, "config.warning", [.field("reason", "\(warning)")]) }
    }

    /// The effective configuration as lines of `KEY = VALUE  # ORIGIN`.
    public var effectiveText: String {
        effective.map { "\($0.key) = \($0.literal)  # \($0.origin)\n" }.joined()
    }

    /// The effective configuration as one JSON array of `{"key":…,"value":…,"origin":…}`.
    public var effectiveJSON: String {
        let items = effective.map { value in
            #"{"key":\#(value.key.quoted),"value":\#(value.literal),"#
                + #""origin":\#("\(value.origin)".quoted)}"#
        }
        return "[" + items.joined(separator: ",") + "]"
    }
}
