public import StructuredLogging

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
