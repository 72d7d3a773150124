/// The counts of a simulator's requests and answers: those of all services, and, as if they were its own, those of the
/// connections and the further ones of the service.
@dynamicMemberLookup
public struct ServiceSummary<Further: FurtherCounts>: Sendable, Equatable {
    /// Messages that were answered by the rules; answers of faults are counted as faults alone.
    public var answered = 0
    /// Messages that were accepted, duplicates included.
    public var accepted = 0
    /// Accepted messages that had been accepted before.
    public var duplicates = 0
    /// Distinct accepted messages; those that cannot be told from others do not count.
    public var distinctMessages = 0
    /// Whether all accepted messages could be kept, so that the two numbers before are complete.
    public var isMessageCountComplete = true
    /// How many faults happened that it was told to have.
    public var faults = 0
    /// Records that the disk did not take.
    public var recordsLost = 0
    /// The counts of connections, and of requests without answers.
    public var serving = ServingCounts()
    /// How often each answer was given, most frequent first.
    public var answers: [AnswerCount] = []
    /// The counts that only this service has.
    public var further = Further()

    /// Begins without any answer.
    public init() {}

    /// A count that only this service has.
    public subscript<Value>(dynamicMember member: WritableKeyPath<Further, Value>) -> Value {
        get { further[keyPath: member] }
        set { further[keyPath: member] = newValue }
    }

    /// A count of `serving`.
    public subscript(dynamicMember member: WritableKeyPath<ServingCounts, Int>) -> Int {
        get { serving[keyPath: member] }
        set { serving[keyPath: member] = newValue }
    }

    /// How often messages were answered with a reason; nil for answers without one.
    public func count(_ reason: String?) -> Int {
        answers.lazy.filter { $0.reason == reason }.map(\.count).reduce(0, +)
    }

    /// Adds what another loop or origin saw.
    public mutating func add(_ other: ServiceSummary) {
        answered += other.answered
        accepted += other.accepted
        duplicates += other.duplicates
        distinctMessages += other.distinctMessages
        isMessageCountComplete = isMessageCountComplete && other.isMessageCountComplete
        faults += other.faults
        recordsLost += other.recordsLost
        serving.add(other.serving)
        answers.add(other.answers)
        further.add(other.further)
    }

    /// The numbers as one line of JSON.
    public var json: String { Further.json(of: self) }

    /// The answers as an array of JSON; no reason needs an escape.
    public var answersJSON: String {
        let texts = answers.map { answer in
            let reason = answer.reason.map { "\"\($0)\"" } ?? "null"
            return "{\"status\":\(answer.status),\"reason\":\(reason),\"count\":\(answer.count)}"
        }
        return "[\(texts.joined(separator: ","))]"
    }
}

/// The counts that only one service has.
public protocol FurtherCounts: Sendable, Equatable {
    /// Begins with none.
    init()
    /// Adds what another loop or origin counted.
    mutating func add(_ other: Self)
    /// The numbers of the service as one line of JSON.
    static func json(of summary: ServiceSummary<Self>) -> String
}
