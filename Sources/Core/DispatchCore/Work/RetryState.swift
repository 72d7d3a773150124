public import ChangeEvents
public import Essentials
public import Messages
import Notifications
public import RegistryCore

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
    /// Whether its publisher asks that the event be remembered, and pushed once; never true of a requeued copy.
    public private(set) var isRemembered = false

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
            isRemembered = delivery.message.asksToBeRemembered
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

    /// The history of no event: that of a job which publishes outcomes again.
    init(restoring exchange: String, at now: WallTime) {
        firstSeen = now
        published = now
        originalExchange = exchange
        originalRoutingKey = ""
        isRequeuedCopy = true
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
            MessageHeader(RetryHeader.attempt, .int64(Int64(attempt))),
            MessageHeader(RetryHeader.firstSeenMilliseconds, .int64(firstSeen.milliseconds)),
            MessageHeader(RetryHeader.reason, .string(reason)),
            MessageHeader(RetryHeader.detail, .string(String(detail.prefix(1_000)))),
            MessageHeader(RetryHeader.originalExchange, .string(originalExchange)),
            MessageHeader(RetryHeader.originalRoutingKey, .string(originalRoutingKey)),
        ]
        if published < firstSeen {
            headers.append(
                MessageHeader(RetryHeader.publishedMilliseconds, .int64(published.milliseconds)))
        }
        if deferredMilliseconds > 0 {
            headers.append(MessageHeader(RetryHeader.heldMilliseconds, .int64(deferredMilliseconds)))
        }
        if let expiresAt {
            headers.append(
                MessageHeader(RetryHeader.expiresAtMilliseconds, .int64(expiresAt.milliseconds)))
        }
        if let deviceIDs {
            headers.append(MessageHeader(RetryHeader.devices, .array(deviceIDs.map { .string($0) })))
        }
        if let cursor {
            headers.append(MessageHeader(RetryHeader.cursor, .int64(cursor.position)))
            if cursor.subscription != 0 {
                headers.append(
                    MessageHeader(RetryHeader.cursorSubscription, .int64(cursor.subscription)))
            }
        }
        if let chunk { headers.append(contentsOf: chunk.headers) }
        if hops > 0 { headers.append(MessageHeader(RetryHeader.hops, .int64(Int64(hops)))) }
        if notifiesOrigin { headers.append(MessageHeader(RetryHeader.notifiesOrigin, .boolean(true))) }
        return headers
    }
}
