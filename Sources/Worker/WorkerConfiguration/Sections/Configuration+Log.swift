public import StructuredLogging
import TOML

extension Configuration {
    /// The level and the format of the log: `[log]`.
    public struct Log: Hashable, Sendable {
        /// The shapes of a log line.
        public enum Format: String, CaseIterable, Sendable {
            /// Text if standard error is a terminal, else JSON.
            case auto
            /// One JSON object a line.
            case json
            /// For people.
            case text
        }

        /// The least severe level that is logged.
        public var level: LogLevel
        /// The shape of the lines.
        public var format: Format
    }
}

extension ConfigurationKey {
    static let logLevel = ConfigurationKey(
        section: "log", name: "level", kind: .choice(["debug", "info", "warning", "error"]), standard: .string("info"),
        summary: "Least severe level that is logged to standard error.",
        effect: .inPlace)
    static let logFormat = ConfigurationKey(
        section: "log", name: "format", kind: .choice(["auto", "json", "text"]), standard: .string("auto"),
        summary: "Format of the log.",
        details: "auto is text on a terminal, else JSON.",
        effect: .afterRestart)

    /// The keys of `[log]`.
    static let log = [logLevel, logFormat]
}

extension ConfigurationReader {
    /// Reads `[log]`.
    mutating func readLog() -> Configuration.Log {
        let level = text(.logLevel)
        let format = text(.logFormat)
        return Configuration.Log(
            level: LogLevel.allCases.first { "\($0)" == level } ?? .info,
            format: Configuration.Log.Format(rawValue: format) ?? .auto)
    }
}
