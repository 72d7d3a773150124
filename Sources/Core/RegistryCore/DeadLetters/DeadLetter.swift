import ChangeEvents
import Essentials
public import Messages

/// The part of a dead letter that a listing shows.
public struct DeadLetterSummary: Hashable, Sendable {
    /// How many characters of the identifier are shown where people read; they are nearly always enough to name it.
    public static let shortIdentifierCount = 12

    /// The unique identifier of the letter: 32 hexadecimal digits.
    public var identifier: String
    /// Why it is here: one of a small set of words.
    public var reason: String
    /// The reason in a sentence.
    public var detail: String?
    /// The app whose push it was, or that its publisher named.
    public var app: String?
    /// The attribute `source` of its event; nil if it has none that can be read.
    public var eventSource: String?
    /// The attribute `id` of its event; nil if it has none that can be read.
    public var eventIdentifier: String?
    /// The attribute `type` of its event; nil if it has none that can be read.
    public var eventType: String?
    /// How many attempts its pushes have had.
    public var attempts: Int64?
    /// When a worker first received the event, in milliseconds since 1970.
    public var firstSeenMilliseconds: Int64?
    /// When it became a dead letter, in milliseconds since 1970; when it was collected, if nothing told.
    public var deadLetteredMilliseconds: Int64
    /// The size of its body, in bytes.
    public var bodySizeBytes: Int
    /// Its position among the stored letters, in the order in which they were collected; 0 before it is stored.
    public var number: Int64 = 0

    /// The beginning of the identifier, for people.
    public var shortIdentifier: String { String(identifier.prefix(Self.shortIdentifierCount)) }

    /// Creates a summary; a time or a size that cannot be, from a row that somebody edited, becomes the nearest bound.
    public init(
        identifier: String, reason: String, deadLetteredMilliseconds: Int64, bodySizeBytes: Int, number: Int64 = 0
    ) {
        self.identifier = identifier
        self.reason = reason
        self.deadLetteredMilliseconds = WallTime(milliseconds: deadLetteredMilliseconds).milliseconds
        self.bodySizeBytes = min(max(0, bodySizeBytes), Int(UInt32.max))
        self.number = number
    }
}

extension DeadLetterSummary {
    /// Parts a list where the bodies would become too many bytes to be kept at once (`DeadLetterRules`).
    public static func batches(_ letters: [DeadLetterSummary]) -> [ArraySlice<DeadLetterSummary>] {
        var batches: [ArraySlice<DeadLetterSummary>] = []
        var start = 0
        var bytes = 0
        for (index, letter) in letters.enumerated() {
            if index > start, bytes + letter.bodySizeBytes > DeadLetterRules.batchBytesMaximum {
                batches.append(letters[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += letter.bodySizeBytes
        }
        if start < letters.count { batches.append(letters[start...]) }
        return batches
    }
}

/// A message that needs a person, whole.
public struct DeadLetter: Hashable, Sendable {
    /// The part that a listing shows.
    public var summary: DeadLetterSummary
    /// The message as it came, without the values that the broker changes with each delivery.
    public var message: Message

    /// Creates a letter.
    public init(summary: DeadLetterSummary, message: Message) {
        self.summary = summary
        self.message = message
    }

    /// The message that is published to put the letter back to work.
    ///
    /// Headers of Apus that another exchange brought were left out when the letter was read.
    public var replay: Message { message.replayed(publishedTo: "") }

    /// Whether the letter is a part of a large fan-out, which goes back to the fan-out queue.
    public var isBulk: Bool { replay.header(RetryHeader.cursor) != nil }
}
