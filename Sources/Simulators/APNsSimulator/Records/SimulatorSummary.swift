public import PushServiceSimulator

/// The counts of the simulator's requests and answers.
public struct SimulatorSummary: Sendable, Equatable {
    /// Requests that were answered.
    public var answered = 0
    /// Pushes that were accepted, duplicates included.
    public var accepted = 0
    /// Accepted pushes whose `apns-id` had been accepted before.
    public var duplicates = 0
    /// Distinct `apns-id`s of accepted pushes; pushes without one do not count.
    public var distinctIdentifiers = 0
    /// Whether every `apns-id` could be kept, so that the two numbers before are complete.
    public var isIdentifierCountComplete = true
    /// Requests that the script left without an answer.
    public var silent = 0
    /// Requests that the client gave up before they were answered.
    public var abandoned = 0
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that were turned away because there were too many.
    public var connectionsRefused = 0
    /// Connections that ended before HTTP/2 began: no TLS, no `h2`, a certificate that was not trusted.
    public var connectionsFailed = 0
    /// Connections that were closed for breaking the rules of HTTP/2, too many streams among them.
    public var protocolViolations = 0
    /// How many faults happened that it was told to have.
    public var faults = 0
    /// The most requests that were open at once on one connection.
    public var concurrentStreamsMaximum = 0
    /// The most requests that were open at once on a connection without a valid provider token.
    public var unauthenticatedStreamsMaximum = 0
    /// Records that the disk did not take.
    public var recordsLost = 0
    /// How often each answer was given, most frequent first.
    public var answers: [AnswerCount] = []

    /// Begins without any answer.
    init(_ serving: ServingCounts = ServingCounts()) {
        silent = serving.silent
        abandoned = serving.abandoned
        connections = serving.connections
        connectionsRefused = serving.connectionsRefused
        connectionsFailed = serving.connectionsFailed
        protocolViolations = serving.protocolViolations
        concurrentStreamsMaximum = serving.concurrentStreamsMaximum
        unauthenticatedStreamsMaximum = serving.unauthenticatedStreamsMaximum
    }

    /// The numbers as one line of JSON.
    public var json: String {
        let answers = answers.map { answer in
            let reason = answer.reason.map { "\"\($0)\"" } ?? "null"
            return "{\"status\":\(answer.status),\"reason\":\(reason),\"count\":\(answer.count)}"
        }
        return """
            {"answered":\(answered),"accepted":\(accepted),"duplicates":\(duplicates),\
            "distinct_apns_ids":\(distinctIdentifiers),"distinct_apns_ids_complete":\(isIdentifierCountComplete),\
            "silent":\(silent),"abandoned":\(abandoned),"connections":\(connections),\
            "connections_refused":\(connectionsRefused),"connections_failed":\(connectionsFailed),\
            "protocol_violations":\(protocolViolations),"faults":\(faults),\
            "concurrent_streams_maximum":\(concurrentStreamsMaximum),\
            "unauthenticated_streams_maximum":\(unauthenticatedStreamsMaximum),"records_lost":\(recordsLost),\
            "answers":[\(answers.joined(separator: ","))]}
            """
    }

    /// Adds what another loop saw.
    mutating func add(_ other: SimulatorSummary) {
        answered += other.answered
        accepted += other.accepted
        duplicates += other.duplicates
        silent += other.silent
        abandoned += other.abandoned
        connections += other.connections
        connectionsRefused += other.connectionsRefused
        connectionsFailed += other.connectionsFailed
        protocolViolations += other.protocolViolations
        recordsLost += other.recordsLost
        concurrentStreamsMaximum = max(concurrentStreamsMaximum, other.concurrentStreamsMaximum)
        unauthenticatedStreamsMaximum = max(unauthenticatedStreamsMaximum, other.unauthenticatedStreamsMaximum)
        answers.add(other.answers)
    }
}
