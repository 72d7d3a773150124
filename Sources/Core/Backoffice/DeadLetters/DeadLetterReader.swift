import ChangeEvents
import Essentials
public import Messages
public import RegistryCore

/// Makes a dead letter of a message from their queue: its identity, and its summary.
///
/// Its identity is a digest of the whole message, including its event's `source` and `id`, but without the values that
/// the broker changes with each delivery. So a redelivered letter keeps its identity. The same event has another
/// identity for other devices, for another reason or when it fails once more, because then its headers differ.
///
/// A reader belongs to the thread that uses it.
public final class DeadLetterReader {
    /// Headers that the broker changes with each delivery.
    private static let deliveryHeaders: Set<String> = ["x-delivery-count", "x-acquired-count"]
    private static let digestBytesMinimum = 16
    private static let detailBytesMaximum = 4_096

    private let decoder = EventDecoder()
    private let digest: ([UInt8]) -> [UInt8]

    /// Creates a reader.
    ///
    /// - Parameter digest: a cryptographic hash of at least 16 bytes: publishers must not be able to make two letters
    ///   that count as one.
    public init(digest: @escaping ([UInt8]) -> [UInt8]) { self.digest = digest }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - message: a message as it came from the queue of dead letters. Headers `apus-…` that Apus did not write are
    ///     left out.
    ///   - exchange: the exchange that its delivery names.
    ///   - nowMilliseconds: when it was collected, in milliseconds since 1970.
    /// - Returns: the letter, not stored yet.
    public func read(_ message: Message, publishedTo exchange: String, nowMilliseconds: Int64) -> DeadLetter {
        let isOwnCopy = message.isOwnCopy(publishedTo: exchange)
        var message = message
        message.headers.removeAll { header in
            Self.deliveryHeaders.contains(header.name) || !isOwnCopy && header.name.hasPrefix(RetryHeader.prefix)
        }
        // The broker sorts the headers of a redelivered message.
        message.headers.sort { $0.name < $1.name }
        let envelope = message.envelope
        let bytes = digest(withUnsafeBytes(of: UInt64(envelope.count).bigEndian, Array.init) + envelope + message.body)
        precondition(bytes.count >= Self.digestBytesMinimum, "a digest has 16 bytes at least")
        let death = BrokerDeath(message)
        let outline = decoder.outline(of: message)
        var summary = DeadLetterSummary(
            identifier: HexadecimalDigits.text(Array(bytes.prefix(Self.digestBytesMinimum))),
            reason: EventOutline.bounded(death?.reason ?? message.text(RetryHeader.reason)) ?? "unknown",
            deadLetteredMilliseconds: death?.milliseconds ?? message.time(RetryHeader.deadLetteredMilliseconds)
                ?? nowMilliseconds,
            bodySizeBytes: message.body.count)
        summary.app = EventOutline.bounded(message.text(RetryHeader.app)) ?? outline.app
        summary.eventSource = outline.source
        summary.eventIdentifier = outline.identifier
        summary.eventType = outline.type
        if death == nil {
            summary.detail = EventOutline.bounded(
                message.text(RetryHeader.detail), bytesMaximum: Self.detailBytesMaximum)
        }
        summary.attempts = message.number(RetryHeader.attempt)
        summary.firstSeenMilliseconds = message.time(RetryHeader.firstSeenMilliseconds)
        return DeadLetter(summary: summary, message: message)
    }
}

/// The broker's own note about a message that it dead-lettered itself: the newest entry of the header `x-death`.
///
/// Workers do not publish that header, so the broker itself dead-lettered a letter that has it. A worker's reason in
/// such a letter is from an earlier stay in a retry queue, or a publisher's invention.
struct BrokerDeath {
    /// `delivery-limit`, `expired`, `rejected` or `maxlen`.
    let reason: String
    /// When, in milliseconds since 1970; the broker counts in seconds.
    let milliseconds: Int64?

    /// Reads the header; nil if there is none.
    init?(_ message: Message) {
        guard case .array(let deaths) = message.header("x-death"), case .table(let newest) = deaths.first else {
            return nil
        }
        var values: [String: HeaderValue] = [:]
        for header in newest { values[header.name] = header.value }
        guard case .string(let reason) = values["reason"] else { return nil }
        self.reason = String(reason.map { $0 == "_" ? "-" : $0 })
        milliseconds =
            if case .timestamp(let seconds) = values["time"] { WallTime(seconds: seconds).milliseconds } else { nil }
    }
}

extension Message {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text) = header(name) { text } else { nil }
    }

    fileprivate func time(_ name: String) -> Int64? {
        header(name)?.wholeNumber.map { WallTime(milliseconds: $0).milliseconds }
    }

    fileprivate func number(_ name: String) -> Int64? { header(name)?.wholeNumber.flatMap { Int64(exactly: $0) } }
}
