public import PushCore

/// A message among the dead letters.
public struct DeadLetter: Sendable {
    /// Its place in the queue at the time of reading, counting from 1; it changes as letters come and go.
    public let position: Int
    /// The message; listings leave the body out.
    public let message: Message
    /// The size of the body in bytes, also where the body is left out.
    public let bodySizeBytes: Int
    /// The exchange that it was published to.
    let exchange: String
    /// Whether Apus put it here, so that its headers `apus-…` count; otherwise the broker did, with an event as it was.
    private let isOwnCopy: Bool

    init(position: Int, exchange: String, message: Message, withBody: Bool) {
        self.position = position
        self.exchange = exchange
        isOwnCopy = message.isOwnCopy(publishedTo: exchange)
        bodySizeBytes = message.body.count
        var kept = message
        if !withBody { kept.body = [] }
        self.message = kept
    }

    /// The message's identifier, if its publisher gave one.
    public var messageID: String? { message.properties.messageID }

    /// Why it is here: the reason that Apus gave, or the broker's own (`delivery-limit`, `expired`, `rejected`,
    /// `maxlen`).
    public var reason: String {
        if let reason = text(ParkingHeader.reason) { return reason }
        guard case .string(let broker) = message.header("x-first-death-reason") else { return "unknown" }
        return String(broker.map { $0 == "_" ? "-" : $0 })
    }

    /// The reason in a sentence.
    public var detail: String? { text(ParkingHeader.detail) }

    /// How many attempts its pushes have had.
    public var attempts: Int64? { number(ParkingHeader.attempt) }

    /// When Apus first received it, in milliseconds since 1970.
    public var firstSeenMilliseconds: Int64? {
        number(ParkingHeader.firstSeenMilliseconds).map { Timestamp(milliseconds: $0).milliseconds }
    }

    /// The exchange that the event was published to first.
    public var originalExchange: String? { text(ParkingHeader.originalExchange) }

    /// The routing key that the event was published with first.
    public var originalRoutingKey: String? { text(ParkingHeader.originalRoutingKey) }

    private func text(_ name: String) -> String? {
        if isOwnCopy, case .string(let text) = message.header(name) { text } else { nil }
    }

    private func number(_ name: String) -> Int64? {
        guard isOwnCopy else { return nil }
        return switch message.header(name) {
        case .int64(let number): number
        case .int32(let number): Int64(number)
        default: nil
        }
    }
}
