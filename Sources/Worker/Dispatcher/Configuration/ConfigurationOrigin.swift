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
