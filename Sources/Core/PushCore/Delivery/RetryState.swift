public import Essentials
import Notifications

/// The history of an event, as its requeued copies carry it in their headers.
public struct RetryState: Hashable, Sendable {
    /// How many attempts its pushes have had.
    public var attempt = 0
    /// When Apus first received it.
    public var firstSeen: WallTime
    /// When it was published: from here count its age (`retry.max_age`) and its time to live (AMQP's `expiration`).
    ///
    /// It is the end of the second that the property `timestamp` names, if the publisher set it, and never later than
    /// `firstSeen`; without that property it is `firstSeen`. For a replayed dead letter it is the time of the replay.
    public var published: WallTime
    /// How long it was deferred because the push service could not be reached, in milliseconds: no part of its age.
    public var deferredMilliseconds: Int64 = 0
    /// When it loses its use; nil if never.
    public var expiresAt: WallTime?
    /// The devices that are still to be served; nil for the whole audience.
    public var deviceIDs: [String]?
    /// Where the rest of the audience begins; nil for its start.
    public var cursor: AudienceCursor?
    /// The chunk of a large fan-out that this is; nil for the audience from `cursor` to its end.
    public var chunk: FanOutChunkJob?
    /// How often it went from a work queue to the fan-out queue since it was last served or deferred.
    public var hops = 0
    /// Whether the device that made the change is notified as well.
    public var notifiesOrigin = false
    /// The exchange that the event was published to.
    public var originalExchange: String
    /// The routing key that the event was published with.
    public var originalRoutingKey: String
    /// Whether the delivery was requeued before, so that it is not an event fresh from a backend.
    public var isRequeuedCopy: Bool
    /// Whether the message has headers `apus-…` that do not count, because Apus did not write them.
    public private(set) var ignoresHeaders = false

    /// Whether it is a chunk or a page of a large fan-out, which is a bulk delivery.
    public var isBulk: Bool { chunk != nil || cursor != nil && deviceIDs == nil }

    private static let attemptMaximum: Int64 = 1_000_000
    private static let hopsMaximum: Int64 = 1_000
    /// More than a hundred years: a header that claims more is nonsense.
    private static let deferredMaximumMilliseconds: Int64 = 1 << 42

    /// Reads the history of a delivery; a message that was never requeued begins one now.
    ///
    /// Headers count only if Apus wrote them (`Message.isOwnCopy(publishedTo:)`). One of the wrong type is treated as
    /// absent, and a number beyond its bounds as the nearest bound: a wrong header must not stop an event.
    public init(of delivery: Delivery, nowMilliseconds: Int64) {
        let now = WallTime(milliseconds: nowMilliseconds)
        firstSeen = now
        published = now
        originalExchange = delivery.exchange
        originalRoutingKey = delivery.routingKey
        isRequeuedCopy = false
        guard delivery.message.isOwnCopy(publishedTo: delivery.exchange) else {
            if let said = delivery.message.published { published = min(said, now) }
            ignoresHeaders = delivery.message.headers.contains { header in
                header.name.hasPrefix(RetryHeader.prefix) && header.name != RetryHeader.unreadableHeaders
            }
            return
        }
        for header in delivery.message.headers where header.name.hasPrefix(RetryHeader.prefix) {
            read(header)
        }
        published = min(published, firstSeen)
        chunk = FanOutChunkJob(headers: delivery.message.headers, after: cursor)
    }

    private mutating func read(_ header: MessageHeader) {
        switch (header.name, header.value) {
        case (RetryHeader.attempt, .int64(let value)): attempt = Int(min(max(0, value), Self.attemptMaximum))
        case (RetryHeader.firstSeenMilliseconds, .int64(let value)):
            firstSeen = WallTime(milliseconds: value)
            isRequeuedCopy = true
        case (RetryHeader.hops, .int64(let value)): hops = Int(min(max(0, value), Self.hopsMaximum))
        case (RetryHeader.publishedMilliseconds, .int64(let value)): published = WallTime(milliseconds: value)
        case (RetryHeader.heldMilliseconds, .int64(let value)):
            deferredMilliseconds = min(max(0, value), Self.deferredMaximumMilliseconds)
        case (RetryHeader.expiresAtMilliseconds, .int64(let value)): expiresAt = WallTime(milliseconds: value)
        case (RetryHeader.cursor, .int64(let value)):
            cursor = AudienceCursor(position: value, subscription: cursor?.subscription ?? 0)
        case (RetryHeader.cursorSubscription, .int64(let value)):
            cursor = AudienceCursor(position: cursor?.position ?? 0, subscription: value)
        case (RetryHeader.notifiesOrigin, .boolean(let value)): notifiesOrigin = value
        case (RetryHeader.originalExchange, .string(let value)): originalExchange = value
        case (RetryHeader.originalRoutingKey, .string(let value)): originalRoutingKey = value
        case (RetryHeader.devices, .array(let values)):
            deviceIDs = values.compactMap { value in
                guard case .string(let identifier) = value else { return nil }
                return identifier
            }
        default: break
        }
    }

    /// Sets when the event loses its use, unless a requeued copy says it.
    ///
    /// That is when its time to live, which counts from publishing, has passed, or at the expiration of its requested
    /// push, whichever comes first.
    public mutating func limitLife(to event: ChangeEvent) {
        guard expiresAt == nil else { return }
        var bounds: [WallTime] = []
        if let timeToLive = event.timeToLiveMilliseconds {
            bounds.append(published.advanced(byMilliseconds: timeToLive))
        }
        if case .push(let push) = event.kind, let seconds = push.options.expirationSeconds, seconds > 0 {
            bounds.append(WallTime(seconds: seconds))
        }
        expiresAt = bounds.min()
    }

    /// Whether the event has lost its use.
    public func hasExpired(nowMilliseconds: Int64) -> Bool {
        expiresAt.map { $0 <= WallTime(milliseconds: nowMilliseconds) } ?? false
    }

    /// Makes the copy of a message that is to be requeued with this history.
    ///
    /// The body and the publisher's own headers and properties stay, but for the broker's own notes about dead
    /// lettering (which would make it see a loop) and the time to live (`expiresAt` has it; on the copy it
    /// would block the queue).
    ///
    /// - Parameters:
    ///   - message: the message as it came.
    ///   - reason: one of a small set of words.
    ///   - detail: the reason in a sentence; cut at 1,000 characters.
    /// - Returns: the copy, ready to be published.
    public func requeuedCopy(of message: Message, reason: String, detail: String) -> Message {
        var copy = message
        copy.properties.expiration = nil
        copy.properties.deliveryMode = 2
        copy.headers.removeAll { header in
            header.name.hasPrefix(RetryHeader.prefix) || header.name == "x-death"
                || header.name.hasPrefix("x-first-death-") || header.name.hasPrefix("x-last-death-")
                || header.name == "x-delivery-count"
        }
        copy.headers.append(contentsOf: headers(reason: reason, detail: detail))
        return copy
    }

    private func headers(reason: String, detail: String) -> [MessageHeader] {
        var headers = [
            MessageHeader(name: RetryHeader.attempt, value: .int64(Int64(attempt))),
            MessageHeader(name: RetryHeader.firstSeenMilliseconds, value: .int64(firstSeen.milliseconds)),
            MessageHeader(name: RetryHeader.reason, value: .string(reason)),
            MessageHeader(name: RetryHeader.detail, value: .string(String(detail.prefix(1_000)))),
            MessageHeader(name: RetryHeader.originalExchange, value: .string(originalExchange)),
            MessageHeader(name: RetryHeader.originalRoutingKey, value: .string(originalRoutingKey)),
        ]
        if published < firstSeen {
            headers.append(
                MessageHeader(name: RetryHeader.publishedMilliseconds, value: .int64(published.milliseconds)))
        }
        if deferredMilliseconds > 0 {
            headers.append(MessageHeader(name: RetryHeader.heldMilliseconds, value: .int64(deferredMilliseconds)))
        }
        if let expiresAt {
            headers.append(
                MessageHeader(name: RetryHeader.expiresAtMilliseconds, value: .int64(expiresAt.milliseconds)))
        }
        if let deviceIDs {
            headers.append(MessageHeader(name: RetryHeader.devices, value: .array(deviceIDs.map { .string($0) })))
        }
        if let cursor {
            headers.append(MessageHeader(name: RetryHeader.cursor, value: .int64(cursor.position)))
            if cursor.subscription != 0 {
                headers.append(
                    MessageHeader(name: RetryHeader.cursorSubscription, value: .int64(cursor.subscription)))
            }
        }
        if let chunk { headers.append(contentsOf: chunk.headers) }
        if hops > 0 { headers.append(MessageHeader(name: RetryHeader.hops, value: .int64(Int64(hops)))) }
        if notifiesOrigin { headers.append(MessageHeader(name: RetryHeader.notifiesOrigin, value: .boolean(true))) }
        return headers
    }
}

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
    public static let ofAttempts: Set<String> = [
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
