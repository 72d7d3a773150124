/// One thing that is wrong with the configuration, or that an operator should know about it.
public struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where the value came from.
    public let origin: ConfigurationOrigin
    /// The key, for example `rabbitmq.prefetch`; empty if it concerns the file as a whole.
    public let key: String
    /// The problem.
    ///
    /// Never contains a secret.
    public let message: String
    /// The expected value, or the remedy.
    public let remedy: String
    /// Whether it may pass by itself: a file could not be read for want of descriptors or memory, or off a lost volume.
    public var isTransient = false

    /// One line with all of it.
    public var description: String {
        // A default has no origin to name.
        let location = key.isEmpty ? "\(origin)" : origin == .standard ? key : "\(origin): \(key)"
        return remedy.isEmpty ? "\(location): \(message)" : "\(location): \(message); \(remedy)"
    }
}

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
