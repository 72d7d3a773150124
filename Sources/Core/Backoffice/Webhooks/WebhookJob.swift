public import ChangeEvents
public import Essentials
public import Messages

/// An outcome that is to be posted: a delivery, and what earlier attempts have left in its headers.
///
/// A copy for a retry says in two headers of its own how many attempts have failed and since when the outcome is tried.
/// Both are bounded when they are read, so a forged header can at worst end the attempts early.
public struct WebhookJob: Sendable {
    /// The name of the header with the number of failed attempts.
    static let attemptsHeader = "apus-webhook-attempts"
    /// The name of the header with the time of the outcome, in milliseconds since 1970.
    static let sinceHeader = "apus-webhook-since-ms"
    private static let attemptsMaximum: Int64 = 1_000_000

    /// Under which name to acknowledge it.
    public let tag: DeliveryTag
    /// The outcome.
    public let message: Message
    /// How many attempts have failed.
    public let failedAttempts: Int
    /// When the outcome was published; its retries end some time after that.
    let since: WallTime
    /// When this process got it.
    let received: MonotonicTime

    /// Reads a delivery.
    ///
    /// - Parameters:
    ///   - delivery: the delivery from the app's queue.
    ///   - now: the time.
    public init(_ delivery: Delivery, at now: Moment) {
        tag = delivery.tag
        message = delivery.message
        received = now.monotonic
        failedAttempts = Int(min(max(0, Self.integer(Self.attemptsHeader, message) ?? 0), Self.attemptsMaximum))
        let told =
            Self.integer(Self.sinceHeader, message).map { WallTime(milliseconds: $0) }
            ?? message.properties.timestampSeconds.map { WallTime(seconds: $0) }
        // An outcome with a time in the future would be tried for ever.
        since = min(told ?? now.wall, now.wall)
    }

    private static func integer(_ name: String, _ message: Message) -> Int64? {
        if case .int64(let number)? = message.header(name) { number } else { nil }
    }

    /// The outcome as it waits for its next attempt.
    ///
    /// - Parameter failedAttempts: how many attempts have failed by then.
    /// - Returns: a copy with the headers that `init` reads.
    func copy(failedAttempts: Int) -> Message {
        var copy = message
        // It would end the wait early.
        copy.properties.expiration = nil
        copy.headers =
            message.headers.filter { $0.name != Self.attemptsHeader && $0.name != Self.sinceHeader } + [
                MessageHeader(Self.attemptsHeader, .int64(Int64(failedAttempts))),
                MessageHeader(Self.sinceHeader, .int64(since.milliseconds)),
            ]
        return copy
    }
}
