public import Messages
public import RegistryCore

extension DeadLetterSummary {
    /// The columns of `dead_letter` that `init(_:)` reads.
    public static let readColumns = """
        number, id, reason, detail, app, event_source, event_id, event_type, attempts, first_seen_at, \
        dead_lettered_at, body_bytes
        """

    /// Reads a summary.
    public init(_ row: some RowReader) {
        self.init(
            identifier: row.text(1), reason: row.text(2), deadLetteredMilliseconds: row.integer(10),
            bodySizeBytes: Int(row.integer(11)), number: row.integer(0))
        detail = row.optionalText(3)
        app = row.optionalText(4)
        eventSource = row.optionalText(5)
        eventIdentifier = row.optionalText(6)
        eventType = row.optionalText(7)
        attempts = row.optionalInteger(8)
        firstSeenMilliseconds = row.optionalInteger(9)
    }
}

extension DeadLetter {
    /// The columns that collecting writes.
    public static let storedColumns: [StoredColumn<DeadLetter>] = [
        .text("id") { $0.summary.identifier }, .text("reason") { $0.summary.reason },
        .text("detail") { $0.summary.detail }, .text("app") { $0.summary.app },
        .text("event_source") { $0.summary.eventSource }, .text("event_id") { $0.summary.eventIdentifier },
        .text("event_type") { $0.summary.eventType }, .integer("attempts") { $0.summary.attempts },
        .integer("first_seen_at") { $0.summary.firstSeenMilliseconds },
        .integer("dead_lettered_at") { $0.summary.deadLetteredMilliseconds },
        .integer("body_bytes") { Int64($0.summary.bodySizeBytes) },
        .text("envelope") { String(decoding: $0.message.envelope, as: UTF8.self) },
        .bytes("body") { $0.message.body },
    ]
}

extension DeadLetterCount {
    /// The columns of `dead_letter`, in groups of reason and app, that `init(_:)` reads.
    public static let readColumns = "reason, app, count(*), min(dead_lettered_at)"

    /// Reads a count.
    public init(_ row: some RowReader) {
        self.init(
            reason: row.text(0), app: row.optionalText(1), count: Int(row.integer(2)),
            oldestMilliseconds: row.integer(3))
    }
}

extension Message {
    /// The columns of `dead_letter` that `init(deadLetter:)` reads.
    public static let readColumns = "number, envelope, body, id"

    /// Reads the message of a dead letter.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if its envelope is none.
    public init(deadLetter row: some RowReader) throws(RegistryError) {
        guard let message = Message(envelope: row.bytes(1), body: row.bytes(2))
        else { throw row.corrupt("the envelope of the dead letter \(row.text(3))") }
        self = message
    }
}
