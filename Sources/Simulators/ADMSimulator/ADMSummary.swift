import JSON
public import PushServiceSimulator

/// The numbers of a simulator of ADM.
public struct ADMSummary: Sendable, Equatable {
    /// Messages that were judged, answered or not.
    public var judged = 0
    /// Messages that were accepted, duplicates and those with a lost answer included.
    public var accepted = 0
    /// Accepted messages that had been accepted before.
    public var duplicates = 0
    /// Distinct accepted messages.
    public var distinctMessages = 0
    /// Whether all accepted messages could be kept, so that the two numbers before are complete.
    public var isMessageCountComplete = true
    /// Accepted messages that were answered with another registration ID.
    public var replaced = 0
    /// Messages that were neither accepted nor answered.
    public var silent = 0
    /// Accepted messages whose answer was lost.
    public var lostAnswers = 0
    /// Records that the disk did not take.
    public var recordsLost = 0
    /// The fetching of access tokens.
    public var tokens = ADMTokenCounts()
    /// How often each answer was given, most frequent first; lost ones included.
    public var answers: [AnswerCount] = []

    /// Begins with none.
    public init() {}

    /// Messages with an answer, lost ones included.
    public var answered: Int { judged - silent }

    /// How often messages were answered with a reason; nil for those without.
    public func count(_ reason: String?) -> Int {
        answers.lazy.filter { $0.reason == reason }.map(\.count).reduce(0, +)
    }

    /// The numbers as one line of JSON.
    public var json: String {
        var writer = JSONWriter(capacityBytes: 1_024)
        writer.beginObject()
        for (name, count) in [
            ("answered", answered), ("accepted", accepted), ("duplicates", duplicates),
            ("distinct_messages", distinctMessages), ("replaced", replaced), ("silent", silent),
            ("lost_answers", lostAnswers), ("token_requests", tokens.requests), ("tokens_issued", tokens.issued),
            ("tokens_refused", tokens.refused), ("faults", tokens.faults), ("records_lost", recordsLost),
        ] as [(StaticString, Int)] {
            writer.key(name)
            writer.integer(count)
        }
        writer.key("distinct_messages_complete")
        writer.boolean(isMessageCountComplete)
        writer.key("answers")
        writer.beginArray()
        for answer in answers {
            writer.beginObject()
            writer.key("status")
            writer.integer(answer.status)
            writer.key("reason")
            if let reason = answer.reason { writer.string(reason) } else { writer.null() }
            writer.key("count")
            writer.integer(answer.count)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
