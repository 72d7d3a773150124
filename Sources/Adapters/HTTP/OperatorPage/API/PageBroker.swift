public import Backoffice

/// The page's requests to RabbitMQ; each call connects by itself, because a page is not always looked at.
///
/// Every method throws `PageBrokerError`, or `RegistryError` where it works with dead letters in the registry.
public protocol PageBroker: Sendable {
    /// The queues of the namespace with their counts.
    func queues() async throws -> PageQueues

    /// Moves the letters of the queue of dead letters to the registry.
    ///
    /// - Parameter progress: takes the counts after each batch, on another thread.
    /// - Returns: the counts at the end.
    /// - Throws: `PageBrokerError` or `RegistryError`; letters that were not moved are still in the queue.
    func collect(_ progress: @escaping @Sendable (PageTally) -> Void) async throws -> PageTally

    /// Collects, and puts dead letters back to work.
    func replay(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally

    /// Collects, and deletes dead letters.
    func purge(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally

    /// Publishes an event in structured JSON; RabbitMQ has confirmed it when the call returns.
    ///
    /// - Parameters:
    ///   - event: the CloudEvent.
    ///   - type: its type, which is the routing key.
    /// - Throws: `PageBrokerError` if no queue has it, or RabbitMQ has not said so in time.
    func publish(_ event: [UInt8], type: String) async throws
}

/// The queues of a namespace at a moment.
public struct PageQueues: Hashable, Sendable {
    /// A queue.
    public struct Queue: Hashable, Sendable {
        /// The purpose of a queue.
        public enum Kind: String, Sendable {
            /// Events of backends.
            case work
            /// Events that wait for their next attempt.
            case retry
            /// Chunks of large fan-outs.
            case fanOut = "fan-out"
            /// Messages that need a person, not collected yet.
            case deadLetter = "dead-letter"
        }

        /// The name.
        public var name: String
        /// The purpose.
        public var kind: Kind
        /// How many messages wait.
        public var readyCount: Int
        /// How many consumers it has.
        public var consumerCount: Int
        /// How many messages consumers have and have not acknowledged; nil if RabbitMQ does not tell it.
        public var unacknowledgedCount: Int?
        /// The age of the oldest message, in seconds; nil if RabbitMQ does not tell it.
        public var oldestSeconds: Double?
        /// The delay of a retry queue, in milliseconds.
        public var delayMilliseconds: Int64?

        /// Describes a queue.
        public init(name: String, kind: Kind, readyCount: Int, consumerCount: Int) {
            self.name = name
            self.kind = kind
            self.readyCount = readyCount
            self.consumerCount = consumerCount
        }
    }

    /// The queues: work, retry by their delays, fan-out, dead letters.
    public var queues: [Queue]
    /// Which queues are left out, because RabbitMQ does not let the worker look at them; nil if none is.
    public var refusal: String?
    /// Whether RabbitMQ's management API told, and not passive declares.
    public var isFromManagement: Bool

    /// Gathers queues.
    public init(_ queues: [Queue], refusal: String? = nil, isFromManagement: Bool) {
        self.queues = queues
        self.refusal = refusal
        self.isFromManagement = isFromManagement
    }

    /// How many dead letters wait to be collected; nil if their queue is left out.
    var deadLettersCount: Int? { queues.first { $0.kind == .deadLetter }?.readyCount }
}

/// The counts of work with dead letters.
public struct PageTally: Hashable, Sendable {
    /// How many letters were replayed, deleted or collected.
    public var doneCount: Int
    /// How many RabbitMQ does not accept.
    public var refusedCount: Int
    /// Why the first of them was refused, or the work ended early.
    public var problem: String?
    /// Whether the work ended early.
    public var hasFailed: Bool

    /// Creates counts.
    public init(doneCount: Int, refusedCount: Int = 0, problem: String? = nil, hasFailed: Bool = false) {
        self.doneCount = doneCount
        self.refusedCount = refusedCount
        self.problem = problem
        self.hasFailed = hasFailed
    }
}

/// RabbitMQ did not do what the page asked for.
public struct PageBrokerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and what to do, for people.
    public let message: String

    /// Creates an error.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
