/// A configuration cannot be used: everything that is wrong with it, at once.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problems; never empty.
    public let problems: [ConfigurationProblem]
    /// Warnings: problems that do not invalidate the configuration.
    public let warnings: [ConfigurationProblem]
    /// The file that was read, or should have been; nil if there is none.
    public let path: String?

    /// Whether reading the same configuration again may succeed: other problems may follow from the files that are not
    /// readable for now.
    public var isTransient: Bool { problems.contains { $0.isTransient } }

    /// The problems, one a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
