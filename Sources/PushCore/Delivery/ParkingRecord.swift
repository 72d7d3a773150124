/// The history of an event, as its parked copies carry it in their headers.
public struct ParkingRecord: Hashable, Sendable {
    /// How many attempts its pushes have had.
    public var attempt = 0
    /// When Apus first received it, in milliseconds since 1970.
    public var firstSeenMilliseconds: Int64
    /// How long it was parked because the push service could not be reached, in milliseconds: no part of its age.
    public var heldMilliseconds: Int64 = 0
    /// When it loses its use, in milliseconds since 1970; nil if never.
    public var expiresAtMilliseconds: Int64?
    /// The devices that are still to be served; nil for the whole audience.
    public var deviceIDs: [String]?
    /// Where the rest of the audience begins; nil for its start.
    public var cursor: AudienceCursor?
    /// The chunk of a large fan-out that this is; nil for the audience from `cursor` to its end.
    public var chunk: FanOutChunkJob?
    /// Whether the device that made the change is notified as well.
    public var notifiesOrigin = false
    /// The exchange that the event was published to.
    public var originalExchange: String
    /// The routing key that the event was published with.
    public var originalRoutingKey: String
    /// Whether the delivery was parked before, so that it is not an event fresh from a backend.
    public var isParkedCopy: Bool

    /// Whether it is a chunk or a page of a large fan-out, which is served in the bulk lane.
    public var isOfFanOutLane: Bool { chunk != nil || cursor != nil && deviceIDs == nil }

    /// More than a hundred years: a header that claims more is nonsense.
    private static let heldMaximumMilliseconds: Int64 = 1 << 42

    /// Reads the history of a delivery; a message that was never parked begins one now.
    ///
    /// A header of the wrong type is treated as absent: only Apus writes them, and a wrong one must not stop an event.
    public init(of delivery: Delivery, nowMilliseconds: Int64) {
        firstSeenMilliseconds = nowMilliseconds
        originalExchange = delivery.exchange
        originalRoutingKey = delivery.routingKey
        isParkedCopy = false
        for header in delivery.message.headers where header.name.hasPrefix(ParkingHeader.prefix) {
            read(header)
        }
        chunk = FanOutChunkJob(headers: delivery.message.headers, after: cursor)
    }

    private mutating func read(_ header: MessageHeader) {
        switch (header.name, header.value) {
        case (ParkingHeader.attempt, .int64(let value)): attempt = Int(max(0, min(value, 1_000_000)))
        case (ParkingHeader.firstSeenMilliseconds, .int64(let value)):
            firstSeenMilliseconds = value
            isParkedCopy = true
        case (ParkingHeader.heldMilliseconds, .int64(let value)):
            heldMilliseconds = max(0, min(value, Self.heldMaximumMilliseconds))
        case (ParkingHeader.expiresAtMilliseconds, .int64(let value)): expiresAtMilliseconds = value
        case (ParkingHeader.cursor, .int64(let value)):
            cursor = AudienceCursor(position: value, subscription: cursor?.subscription ?? 0)
        case (ParkingHeader.cursorSubscription, .int64(let value)):
            cursor = AudienceCursor(position: cursor?.position ?? 0, subscription: value)
        case (ParkingHeader.notifiesOrigin, .boolean(let value)): notifiesOrigin = value
        case (ParkingHeader.originalExchange, .string(let value)): originalExchange = value
        case (ParkingHeader.originalRoutingKey, .string(let value)): originalRoutingKey = value
        case (ParkingHeader.devices, .array(let values)):
            deviceIDs = values.compactMap { value in
                guard case .string(let identifier) = value else { return nil }
                return identifier
            }
        default: break
        }
    }

    /// Makes the copy of a message that is to be parked with this history.
    ///
    /// The body and the publisher's own headers and properties stay, but for the broker's own notes about dead
    /// lettering (which would make it see a loop) and the time to live (`expiresAtMilliseconds` has it; on the copy it
    /// would hold up the queue).
    ///
    /// - Parameters:
    ///   - message: the message as it came.
    ///   - reason: one of a small set of words.
    ///   - detail: the reason in a sentence; cut at 1,000 characters.
    /// - Returns: the copy, ready to be published.
    public func parkedCopy(of message: Message, reason: String, detail: String) -> Message {
        var copy = message
        copy.properties.expiration = nil
        copy.properties.deliveryMode = 2
        copy.headers.removeAll { header in
            header.name.hasPrefix(ParkingHeader.prefix) || header.name == "x-death"
                || header.name.hasPrefix("x-first-death-") || header.name.hasPrefix("x-last-death-")
                || header.name == "x-delivery-count"
        }
        copy.headers.append(contentsOf: headers(reason: reason, detail: detail))
        return copy
    }

    private func headers(reason: String, detail: String) -> [MessageHeader] {
        var headers = [
            MessageHeader(name: ParkingHeader.attempt, value: .int64(Int64(attempt))),
            MessageHeader(name: ParkingHeader.firstSeenMilliseconds, value: .int64(firstSeenMilliseconds)),
            MessageHeader(name: ParkingHeader.reason, value: .string(reason)),
            MessageHeader(name: ParkingHeader.detail, value: .string(String(detail.prefix(1_000)))),
            MessageHeader(name: ParkingHeader.originalExchange, value: .string(originalExchange)),
            MessageHeader(name: ParkingHeader.originalRoutingKey, value: .string(originalRoutingKey)),
        ]
        if heldMilliseconds > 0 {
            headers.append(MessageHeader(name: ParkingHeader.heldMilliseconds, value: .int64(heldMilliseconds)))
        }
        if let expiresAtMilliseconds {
            headers.append(
                MessageHeader(name: ParkingHeader.expiresAtMilliseconds, value: .int64(expiresAtMilliseconds)))
        }
        if let deviceIDs {
            headers.append(MessageHeader(name: ParkingHeader.devices, value: .array(deviceIDs.map { .string($0) })))
        }
        if let cursor {
            headers.append(MessageHeader(name: ParkingHeader.cursor, value: .int64(cursor.position)))
            if cursor.subscription != 0 {
                headers.append(
                    MessageHeader(name: ParkingHeader.cursorSubscription, value: .int64(cursor.subscription)))
            }
        }
        if let chunk { headers.append(contentsOf: chunk.headers) }
        if notifiesOrigin { headers.append(MessageHeader(name: ParkingHeader.notifiesOrigin, value: .boolean(true))) }
        return headers
    }
}
