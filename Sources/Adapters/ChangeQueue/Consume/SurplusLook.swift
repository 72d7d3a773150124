import AMQP
import Synchronization

/// One look at queues that are not consumed: what they hold, or that they are gone.
///
/// By a connection of its own: on the consumer's no request may wait while deliveries flow, and asking there for a
/// queue that is gone would end it. The consumer's loop looks at the result with its next tick.
final class SurplusLook: Sendable {
    private let found = Mutex<[String: Int?]?>(nil)

    /// Begins to look.
    ///
    /// - Parameters:
    ///   - queues: their tags and names.
    ///   - configuration: where the broker is.
    init(_ queues: [(tag: String, name: String)], _ configuration: BrokerConfiguration) {
        Task {
            let counts = try? await configuration.withSession(purpose: "surplus") { session in
                try queues.map { ($0.tag, try session.queueStatus($0.name)?.messageCount) }
            }
            found.withLock { $0 = Dictionary(uniqueKeysWithValues: counts ?? []) }
        }
    }

    /// Whether the broker has answered, or cannot be had.
    var hasEnded: Bool { found.withLock { $0 != nil } }

    /// How many messages each queue has, by its tag: none if it is gone; empty if the broker could not be had.
    var messageCounts: [String: Int?] { found.withLock { $0 ?? [:] } }
}
