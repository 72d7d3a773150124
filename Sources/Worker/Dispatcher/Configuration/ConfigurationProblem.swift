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
