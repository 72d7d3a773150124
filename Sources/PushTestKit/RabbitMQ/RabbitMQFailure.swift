/// Why the private RabbitMQ node could not be started or told to do something.
public struct RabbitMQFailure: Error, CustomStringConvertible, Sendable {
    /// What failed, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
