public import PushServiceSimulator

/// The counts of the requests and answers of a simulator of FCM.
public struct FCMSummary: Sendable, Equatable {
    /// Messages that were answered by the rules; answers of faults are counted as faults alone.
    public var answered = 0
    /// Messages that were accepted, duplicates included.
    public var accepted = 0
    /// Requests that asked only whether the message would be accepted, and it would.
    public var validated = 0
    /// Accepted messages with target and content of an earlier one.
    public var duplicates = 0
    /// Distinct accepted messages.
    public var distinctMessages = 0
    /// Whether all accepted messages could be kept, so that the two numbers before are complete.
    public var isMessageCountComplete = true
    /// Accepted messages that reach their device later, because too many collapsible ones were on their way.
    public var delayed = 0
    /// Messages that came back too soon after 5xx.
    public var earlyAfterServerError = 0
    /// Messages that came back too soon after 429.
    public var earlyAfterThrottling = 0
    /// The fetching of access tokens.
    public var tokens = TokenCounts()
    /// How many faults happened that it was told to have.
    public var faults = 0
    /// Records that the disk did not take.
    public var recordsLost = 0
    /// The counts of connections.
    public var serving = ServingCounts()
    /// How often each answer was given, most frequent first.
    public var answers: [AnswerCount] = []

    /// Begins without any answer.
    init() {}

    /// How often messages were answered with a reason; nil for acceptance.
    public func count(_ reason: String?) -> Int {
        answers.lazy.filter { $0.reason == reason }.map(\.count).reduce(0, +)
    }

    /// The numbers as one line of JSON.
    public var json: String {
        let answers = answers.map { answer in
            let reason = answer.reason.map { "\"\($0)\"" } ?? "null"
            return "{\"status\":\(answer.status),\"reason\":\(reason),\"count\":\(answer.count)}"
        }
        return """
            {"answered":\(answered),"accepted":\(accepted),"validated":\(validated),"duplicates":\(duplicates),\
            "distinct_messages":\(distinctMessages),"distinct_messages_complete":\(isMessageCountComplete),\
            "delayed":\(delayed),"early_after_5xx":\(earlyAfterServerError),"early_after_429":\(earlyAfterThrottling),\
            "token_requests":\(tokens.requests),"tokens_issued":\(tokens.issued),"tokens_refused":\(tokens.refused),\
            "token_requests_at_once_maximum":\(tokens.atOnceMaximum),"token_late_refreshes":\(tokens.lateRefreshes),\
            "token_seconds_left_maximum":\(tokens.secondsLeftMaximum.map { String($0) } ?? "null"),\
            "silent":\(serving.silent),"lost_answers":\(serving.lostAnswers),"abandoned":\(serving.abandoned),\
            "connections":\(serving.connections),"connections_refused":\(serving.connectionsRefused),\
            "connections_failed":\(serving.connectionsFailed),"protocol_violations":\(serving.protocolViolations),\
            "faults":\(faults),"concurrent_streams_maximum":\(serving.concurrentStreamsMaximum),\
            "records_lost":\(recordsLost),"answers":[\(answers.joined(separator: ","))]}
            """
    }

    /// Adds what another loop saw.
    mutating func add(_ other: FCMSummary) {
        answered += other.answered
        accepted += other.accepted
        validated += other.validated
        duplicates += other.duplicates
        delayed += other.delayed
        recordsLost += other.recordsLost
        serving.add(other.serving)
        answers.add(other.answers)
    }
}
