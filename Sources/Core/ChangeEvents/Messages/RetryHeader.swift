public import Messages

/// The names of the headers that Apus adds to a message when it requeues it: in a retry queue, in the fan-out queue or
/// among the dead letters.
///
/// The body and the publisher's own headers stay as they came, so a requeued message can be read, replayed or handed to
/// another consumer. The prefix is Apus' own: headers with it count only where `Message.isOwnCopy(publishedTo:)` says
/// that Apus wrote them, and are left out of copies elsewhere.
public enum RetryHeader {
    /// How all of them begin.
    public static let prefix = "apus-"
    /// How many attempts the pushes of this message have had (int64).
    public static let attempt = "apus-attempt"
    /// When Apus first received the event, in milliseconds since 1970 (int64).
    public static let firstSeenMilliseconds = "apus-first-seen-ms"
    /// From when its age and its time to live count, in milliseconds since 1970 (int64); absent if from
    /// `firstSeenMilliseconds`.
    public static let publishedMilliseconds = "apus-published-ms"
    /// How long it was requeued because the push service could not be reached, in milliseconds (int64).
    public static let heldMilliseconds = "apus-held-ms"
    /// Why it was requeued last: one of a small set of words (string).
    public static let reason = "apus-reason"
    /// The reason in a sentence that a person can act on (string).
    public static let detail = "apus-detail"
    /// The time at which the message became a dead letter, in milliseconds since 1970 (int64).
    public static let deadLetteredMilliseconds = "apus-dead-lettered-ms"
    /// The app whose pushes failed, for a dead letter (string).
    public static let app = "apus-app"
    /// The devices that are still to be served, by identifier (array of strings).
    public static let devices = "apus-devices"
    /// Where the rest of a large fan-out begins (int64).
    public static let cursor = "apus-cursor"
    /// The subscription at which the rest of a large fan-out begins (int64).
    public static let cursorSubscription = "apus-cursor-subscription"
    /// The number of the large fan-out that a chunk is of (int64); `cursor` says where the chunk begins.
    public static let fanOut = "apus-fanout"
    /// The number of the chunk (int64).
    public static let chunk = "apus-fanout-chunk"
    /// How many devices the chunk had when it was planned (int64).
    public static let chunkDevices = "apus-fanout-chunk-devices"
    /// The last position of the chunk (int64); absent in the last chunk.
    public static let through = "apus-fanout-through"
    /// The subscription of the last position (int64).
    public static let throughSubscription = "apus-fanout-through-subscription"
    /// The subscriptions that have devices in the chunk or cover some of them, 8 bytes each, big endian (byte array).
    public static let subscriptions = "apus-fanout-subscriptions"
    /// How often a part of a large fan-out went from a work queue to the fan-out queue since it was last served or
    /// deferred (int64).
    public static let hops = "apus-hops"
    /// Whether the device that made the change is notified as well, because others made changes that this event stands
    /// for (boolean).
    public static let notifiesOrigin = "apus-notifies-origin"
    /// When the event loses its use, in milliseconds since 1970 (int64).
    public static let expiresAtMilliseconds = "apus-expires-at-ms"
    /// The exchange that the event was published to (string).
    public static let originalExchange = "apus-original-exchange"
    /// The routing key that the event was published with (string).
    public static let originalRoutingKey = "apus-original-routing-key"
    /// Says that a header of the message lay too deep in others to be read, and came without its value (boolean).
    ///
    /// It is never published: the adapter of the broker adds it.
    public static let unreadableHeaders = "apus-headers-unreadable"
    /// The headers of former attempts, which a replay removes.
    ///
    /// A replay keeps the headers that name the devices still to be served.
    static let ofAttempts: Set<String> = [
        attempt, firstSeenMilliseconds, publishedMilliseconds, heldMilliseconds, reason, detail, expiresAtMilliseconds,
        deadLetteredMilliseconds, app, hops, unreadableHeaders,
    ]
}

extension Message {
    /// Whether Apus itself published this message, so that its headers `apus-…` count.
    ///
    /// The broker writes the exchange of a publish into each delivery, and lets a publisher write only to exchanges
    /// that its permissions name. Backends publish to `apus.changes`. Copies of Apus are published to the default
    /// exchange, whose name is empty and which routes by queue name, and come back through it from a retry queue. So a
    /// message with another exchange is a publisher's. Where the broker has moved a message from queue to queue,
    /// `x-death` names the exchanges before: an event that a queue gave up on stays an event of its publisher. Copies
    /// and replays are published without that header.
    ///
    /// Only a publisher with the permission `write` on `amq.default`, which is the permission to put anything into any
    /// queue, can pass for Apus. (Publishers may write `x-death`, too: RabbitMQ before 4.0 adds to it, later versions
    /// leave it as it is until they write their own. That gains little: it decides alone only about a letter that the
    /// broker itself dead-lettered and an operator replays.)
    ///
    /// - Parameter exchange: the exchange that the delivery names.
    /// - Returns: whether the headers `apus-…` were written by Apus.
    public func isOwnCopy(publishedTo exchange: String) -> Bool {
        guard exchange.isEmpty else { return false }
        switch header("x-death") {
        case nil: return true
        case .array(let moves): return moves.allSatisfy(Self.wasPublishedToDefaultExchange)
        default: return false
        }
    }

    private static func wasPublishedToDefaultExchange(_ move: HeaderValue) -> Bool {
        guard case .table(let facts) = move else { return false }
        return facts.contains { $0.name == "exchange" && $0.value == .string("") }
    }

    /// Returns the copy that a replay publishes: its count of attempts begins at zero.
    ///
    /// - Parameter exchange: the exchange that its delivery names.
    /// - Returns: the copy; without any header `apus-…` if those are not of Apus.
    public func replayed(publishedTo exchange: String) -> Message {
        let isOwn = isOwnCopy(publishedTo: exchange)
        var copy = self
        copy.headers.removeAll { header in
            isOwn ? RetryHeader.ofAttempts.contains(header.name) : header.name.hasPrefix(RetryHeader.prefix)
        }
        return copy
    }
}
