import Essentials
internal import JSON
import Notifications

/// What Debezium publishes for a change of a row: an object with `op` and `source`, perhaps in one with its schema.
///
/// Its sink for RabbitMQ sets no property of a message but the delivery mode, so only the shape tells. Sources:
/// Debezium, "Data change events" of the connectors, and `RabbitMqStreamChangeConsumer` of Debezium Server.
struct DebeziumEnvelope {
    /// The members of `source` that say where in the database's log the change stands, in the connectors' own names.
    ///
    /// A connector that starts again gives a change the same ones.
    private static let positions: [StaticString] = [
        "lsn", "txId", "gtid", "file", "pos", "row", "change_lsn", "commit_lsn", "event_serial_no", "scn",
        "commit_scn", "rs_id", "ssn",
    ]
    /// How the sink writes a tombstone, unless `debezium.sink.rabbitmq.null.value` says another text.
    private static let nullText = Array("default".utf8)

    private let payload: JSONObject
    private let source: JSONObject
    private let schema: JSONValue?

    /// Recognises an envelope; nil if the document is none.
    init?(_ body: JSONValue) {
        let (document, schema) = Self.unwrapped(body)
        guard let payload = document.object, payload["op"]?.kind == .string, let source = payload["source"]?.object
        else { return nil }
        self.payload = payload
        self.source = source
        self.schema = schema
    }

    /// The document without the object around it that Kafka Connect puts its schema into.
    static func unwrapped(_ body: JSONValue) -> (payload: JSONValue, schema: JSONValue?) {
        guard let object = body.object, let schema = object["schema"], let payload = object["payload"] else {
            return (body, nil)
        }
        return (payload, schema)
    }

    /// The change of the row.
    ///
    /// - Throws: `EventRejection`: `.skipped` if no row changed.
    func change() throws(EventRejection) -> TableChange {
        let reader = FieldReader(payload, path: "the envelope")
        switch try reader.text("op") ?? "" {
        case "c": return try change(.created, "after", reader)
        case "u": return try change(.updated, "after", reader)
        case "d": return try change(.deleted, "before", reader)
        case "r": return try change(.snapshot, "after", reader)
        case "t": throw EventRejection(.skipped, "the table \(table.whole.excerpt) was truncated: no row is named")
        case "m": throw EventRejection(.skipped, "a message of the database's log, and no change of a row")
        case let other:
            throw FieldReader.invalid(reader.path("op"), found: other.excerpt, "one of c, u, d, r, t, m")
        }
    }

    private func change(
        _ change: TableSource.Change, _ member: StaticString, _ reader: FieldReader
    ) throws(EventRejection) -> TableChange {
        guard let row = try reader.reader(member) else {
            throw reader.missing(
                member,
                change == .deleted ? "the deleted row (in PostgreSQL its table needs a REPLICA IDENTITY)" : "the row")
        }
        return TableChange(
            table: table, change: change, row: row,
            schema: schema.map { RowSchema(envelope: $0, member: member) } ?? RowSchema())
    }

    private var table: TableName {
        TableName(
            database: source["db"]?.string, schema: source["schema"]?.string, table: source["table"]?.string ?? "")
    }

    // MARK: The event

    /// The source of its event: the connector, its name, and the table.
    var eventSource: String {
        let names = ["connector", "name", "db", "schema", "table"] as [StaticString]
        let parts = names.compactMap { source[$0]?.string }.filter { !$0.isEmpty }
        return (["", "debezium"] + parts.map { PercentEncoding.encode($0) }).joined(separator: "/")
    }

    /// The identifier of its event: the operation, the place in the database's log, and the record.
    ///
    /// So a change that Debezium publishes again is the same event.
    ///
    /// The record is left out if its name is not known, because no source names the table.
    func eventIdentifier(of recordName: String?) -> String {
        var parts = [payload["op"]?.string ?? ""]
        for name in Self.positions {
            if let value = source[name].flatMap(Self.text) { parts.append("\(name):\(value)") }
        }
        if parts.count == 1, let milliseconds = source["ts_ms"].flatMap(Self.text) {
            parts.append("ts_ms:\(milliseconds)")
        }
        if let recordName { parts.append(PercentEncoding.encode(recordName)) }
        let identifier = parts.joined(separator: ";")
        guard identifier.utf8.count > EventLimits.identifierBytesMaximum else { return identifier }
        return EventDigest(source: "", identifier: identifier).uuid
    }

    private static func text(_ value: JSONValue) -> String? {
        if let text = value.string { return PercentEncoding.encode(text) }
        return value.uint64.map(String.init) ?? value.int64.map(String.init)
    }

    /// When the change was committed, as the database says.
    var time: WallTime? { source["ts_ms"]?.int64.map { WallTime(milliseconds: $0) } }

    // MARK: Other messages of Debezium

    /// Whether a body that is no JSON tells that a row is gone, which its envelope has told.
    static func isTombstone(_ body: [UInt8]) -> Bool { body.isEmpty || body == nullText }

    /// What a document of Debezium tells that is no change of a row; nil if it is none.
    static func notice(_ body: JSONValue) -> String? {
        let payload = unwrapped(body).payload
        if payload.isNull { return "a tombstone" }
        guard let object = payload.object, !object.isEmpty else { return nil }
        if object["ts_ms"] != nil, object.firstMember(notAmong: ["ts_ms", "ts_us", "ts_ns"]) == nil {
            return "a heartbeat"
        }
        if object["status"]?.kind == .string, object["id"] != nil, object["event_count"] != nil {
            return "the beginning or the end of a transaction"
        }
        guard object["source"]?.object != nil, object["ddl"] != nil || object["tableChanges"] != nil else { return nil }
        return "a change of the database's schema"
    }
}
