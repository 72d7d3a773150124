public import Essentials

/// The registry's record of what became of the pushes of each event, kept for a while.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use it at once. The record is bounded by age and by number; where it is full
/// the oldest outcomes go first.
public protocol OutcomeHistoryRegistry: AnyObject {
    /// Keeps outcomes, all or none; one that it has already is kept once.
    ///
    /// A loss of power may lose the last ones.
    ///
    /// - Parameters:
    ///   - outcomes: up to a few thousand.
    ///   - milliseconds: when it is, in milliseconds since 1970.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first.
    func keepOutcomes(_ outcomes: [KeptOutcome], atMilliseconds milliseconds: Int64) throws(RegistryError)

    /// The bodies of the outcomes of the events with an identifier, of whichever source; the oldest first.
    ///
    /// - Parameters:
    ///   - identifier: the attribute `id` of the events.
    ///   - limit: the most outcomes in the answer.
    /// - Returns: the bodies; none in a registry of an older schema.
    /// - Throws: `RegistryError` if the store cannot answer.
    func keptOutcomes(ofEvent identifier: String, limit: Int) throws(RegistryError) -> [[UInt8]]

    /// Forgets outcomes that are too old or too many, a bounded part at a time, the oldest first.
    ///
    /// - Parameters:
    ///   - milliseconds: the oldest outcome that is kept, in milliseconds since 1970.
    ///   - maximum: how many are kept.
    ///   - limit: the most rows to remove.
    /// - Returns: how many were removed.
    /// - Throws: `RegistryError` if the store cannot be written, `.olderSchema` if it has to be migrated first.
    func forgetOutcomes(
        beforeMilliseconds milliseconds: Int64, outcomesMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> Int
}

/// What became of some pushes of an event, as the registry keeps it.
public struct KeptOutcome: Hashable, Sendable {
    /// The attribute `id` of the event.
    @ByBytes public var eventIdentifier: String
    /// The identifier of the outcome, by which a repetition is recognised.
    public var identifier: String
    /// The body of the outcome's message, JSON.
    public var body: [UInt8]

    /// Creates an outcome.
    public init(eventIdentifier: String, identifier: String, body: [UInt8]) {
        self.eventIdentifier = eventIdentifier
        self.identifier = identifier
        self.body = body
    }
}

/// Limits of the record of outcomes.
public enum OutcomeHistoryRules {
    /// The version of the registry's schema that brought it.
    public static let schemaVersion: Int64 = 6
    /// How long a process has outcomes to itself that it has taken, in milliseconds.
    public static let takenMilliseconds: Int64 = 60_000
    /// How many outcomes may wait for RabbitMQ (`OutcomeOutboxRegistry`).
    public static let waitingMaximum: Int64 = 100_000
    /// How many rows go at most when old outcomes are forgotten.
    public static let rowsForgottenAtOnce = 2_000
}
