/// A configuration cannot be used: everything that is wrong with it, at once.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problems; never empty.
    public let problems: [ConfigurationProblem]
    /// Warnings: problems that do not invalidate the configuration.
    public let warnings: [ConfigurationProblem]
    /// The file that was read, or should have been; nil if there is none.
    public let path: String?

    /// The problems, one a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
