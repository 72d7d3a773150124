import TOML

/// Where the value of a configuration key came from.
public enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
    /// A line of the file; 0 if the line is not known.
    case file(path: String, line: Int)
    /// An environment variable.
    case environment(String)
    /// The command line: `--set`.
    case flag
    /// The built-in default.
    case standard

    /// The origin as it begins an error message.
    public var description: String {
        switch self {
        case .file(let path, let line): line > 0 ? "\(path):\(line)" : path
        case .environment(let name): "environment variable \(name)"
        case .flag: "--set"
        case .standard: "default"
        }
    }
}

/// A key that the command line gives: `--set KEY=VALUE`.
public struct ConfigurationOverride: Hashable, Sendable {
    /// The key, for example `rabbitmq.prefetch` or `app.0.apns.connections`.
    public let key: String
    /// The value; lists are separated by commas.
    public let value: String

    /// Creates an override.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// The value of a key as it was written.
struct RawValue: Sendable {
    /// How it was written.
    enum Content: Sendable {
        /// In the file, with a type.
        case typed(TOMLNode.Value)
        /// In the environment or on the command line, as mere text.
        case text(String)
    }

    /// The value as it was written.
    let content: Content
    /// Where.
    let origin: ConfigurationOrigin
}

/// A key with the value that is in force, fit to be printed.
public struct EffectiveValue: Hashable, Sendable {
    /// The full name of the key.
    public let key: String
    /// The value as TOML and JSON write it; passwords are redacted.
    public let literal: String
    /// The value with its passwords, for telling whether it has changed.
    let exact: Secret
    /// When a change has an effect on a running process.
    let effect: ConfigurationKey.Effect
    /// Where it came from.
    public let origin: ConfigurationOrigin
}
