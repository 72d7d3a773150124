public import Messages

/// Outcomes that wait in the registry while RabbitMQ takes no messages.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`. A process takes outcomes for a minute, in which no other gets them.
public protocol OutcomeOutboxRegistry: AnyObject {
    /// Adds outcomes, all or none.
    ///
    /// - Parameter outcomes: up to a few hundred.
    /// - Throws: `RegistryError` if the store cannot be written, `.quotaExceeded` if it holds as many as it may,
    ///   `.olderSchema` if it has to be migrated first.
    func addWaitingOutcomes(_ outcomes: [WaitingOutcome]) throws(RegistryError)

    /// Takes outcomes that wait, the oldest first, each with its number.
    ///
    /// - Parameters:
    ///   - limit: the most outcomes in the answer.
    ///   - milliseconds: when it is, in milliseconds since 1970; those taken less than a minute before stay away.
    /// - Returns: the outcomes; none in a registry of an older schema.
    /// - Throws: `RegistryError` if the store cannot be written, `.corrupt` if an outcome cannot be read.
    func takeWaitingOutcomes(
        limit: Int, atMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [(number: Int64, outcome: WaitingOutcome)]

    /// Removes outcomes that RabbitMQ has, by their numbers; those that are gone do not matter.
    func removeWaitingOutcomes(_ numbers: [Int64]) throws(RegistryError)
}

/// A message with outcomes that RabbitMQ has not taken.
public struct WaitingOutcome: Hashable, Sendable {
    /// Its routing key on the exchange of outcomes.
    public var routingKey: String
    /// The message.
    public var message: Message

    /// Creates an outcome.
    public init(routingKey: String, message: Message) {
        self.routingKey = routingKey
        self.message = message
    }
}
