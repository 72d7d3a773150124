import JSON
public import PushServiceSimulator

/// The counts of one origin, or of all origins of a simulator.
public struct WebPushSummary: Sendable, Equatable {
    /// Pushes that were answered by the rules; answers of faults are counted as faults alone.
    public var answered = 0
    /// Pushes that were accepted, duplicates included.
    public var accepted = 0
    /// Accepted pushes to a subscription that had the same event, or the same plaintext, before.
    public var duplicates = 0
    /// Distinct accepted messages.
    public var distinctMessages = 0
    /// Whether all accepted messages could be kept, so that the two numbers before are complete.
    public var isMessageCountComplete = true
    /// Messages that reached their browsers, at once or after they had waited.
    public var delivered = 0
    /// Delivered messages that reach their browsers later, because FCM passes on only so many with a topic.
    public var delayed = 0
    /// Messages that wait for their browsers now.
    public var waiting = 0
    /// Messages that gave their places to one with the same topic.
    public var replaced = 0
    /// Messages whose time passed while they waited.
    public var expired = 0
    /// Messages whose browsers were offline, and that had no time to wait.
    public var dropped = 0
    /// Accepted messages that no browser could decrypt.
    public var unreadable = 0
    /// Messages with a salt or a sender's key that had been used before.
    public var reusedKeys = 0
    /// Distinct VAPID tokens with a good signature.
    public var vapidTokens = 0
    /// Pushes to a subscription sooner than the last `retry-after` of it said.
    public var earlyAfterRetryAfter = 0
    /// Requests to the place that redirects lead to.
    public var trapVisits = 0
    /// How many faults happened that it was told to have.
    public var faults = 0
    /// Records that the disk did not take.
    public var recordsLost = 0
    /// The counts of HTTP/2 connections, and of requests without answers.
    public var serving = ServingCounts()
    /// How often each answer was given, most frequent first.
    public var answers: [AnswerCount] = []
    /// The counts of each origin by its name; empty in those of an origin.
    public var origins: [String: WebPushSummary] = [:]

    /// Begins without any answer.
    init() {}

    /// How often pushes were answered with a reason; nil for acceptance.
    public func count(_ reason: String?) -> Int {
        answers.lazy.filter { $0.reason == reason }.map(\.count).reduce(0, +)
    }

    /// Adds what another loop or origin saw.
    mutating func add(_ other: WebPushSummary) {
        for count in Self.counts { self[keyPath: count.path] += other[keyPath: count.path] }
        isMessageCountComplete = isMessageCountComplete && other.isMessageCountComplete
        serving.add(other.serving)
        answers.add(other.answers)
    }
}

extension WebPushSummary {
    /// The counts that add up, in the order and with the names of the JSON.
    private static var counts: [(name: String, path: WritableKeyPath<WebPushSummary, Int>)] {
        [
            ("answered", \.answered), ("accepted", \.accepted), ("duplicates", \.duplicates),
            ("distinct_messages", \.distinctMessages), ("delivered", \.delivered), ("delayed", \.delayed),
            ("waiting", \.waiting),
            ("replaced", \.replaced), ("expired", \.expired), ("dropped", \.dropped), ("unreadable", \.unreadable),
            ("reused_keys", \.reusedKeys), ("vapid_tokens", \.vapidTokens),
            ("early_after_retry_after", \.earlyAfterRetryAfter), ("trap_visits", \.trapVisits), ("faults", \.faults),
            ("records_lost", \.recordsLost),
        ]
    }

    /// The numbers as one line of JSON.
    public var json: String {
        var writer = JSONWriter(capacityBytes: 2_048)
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for count in Self.counts {
            writer.key(dynamic: count.name)
            writer.integer(self[keyPath: count.path])
        }
        writer.key("distinct_messages_complete")
        writer.boolean(isMessageCountComplete)
        let connections: KeyValuePairs = [
            "silent": serving.silent, "lost_answers": serving.lostAnswers, "abandoned": serving.abandoned,
            "connections": serving.connections, "connections_refused": serving.connectionsRefused,
            "connections_failed": serving.connectionsFailed, "protocol_violations": serving.protocolViolations,
            "concurrent_streams_maximum": serving.concurrentStreamsMaximum,
        ]
        for (name, count) in connections {
            writer.key(dynamic: name)
            writer.integer(count)
        }
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
        if !origins.isEmpty {
            writer.key("origins")
            writer.beginObject()
            for (name, summary) in origins.sorted(by: { $0.key < $1.key }) {
                writer.key(dynamic: name)
                summary.write(to: &writer)
            }
            writer.endObject()
        }
        writer.endObject()
    }
}
