import ChangeEvents
import Messages
import Notifications
import Predicates
import Testing

/// Messages as Debezium's sink for RabbitMQ publishes them, and what a decoder with sources makes of them.
struct TableMessages {
    let decoder: EventDecoder

    init(_ sources: TableSource...) { decoder = EventDecoder(sources: TableSources(sources)) }

    /// Songs, named by their `id`, with all columns.
    static let songs = TableSource(table: "public.songs", recordType: "Song")

    /// A message as the sink publishes it: without any property but the delivery mode.
    static func message(_ body: String, headers: [MessageHeader] = []) -> Message {
        Message(headers: headers, body: Array(body.utf8))
    }

    /// An envelope of the connector for PostgreSQL, without a schema.
    static func envelope(
        _ operation: String, before: String = "null", after: String = "null", table: String = "songs",
        lsn: Int64 = 24_023_128
    ) -> String {
        """
        {"before":\(before),"after":\(after),"source":{"version":"3.0.8.Final","connector":"postgresql","name":"shop",
        "ts_ms":1764370000123,"snapshot":"false","db":"store","sequence":"[\\"24023119\\",\\"24023128\\"]",
        "ts_us":1764370000123456,"ts_ns":1764370000123456789,"schema":"public","table":"\(table)","txId":555,
        "lsn":\(lsn),"xmin":null},"transaction":null,"op":"\(operation)","ts_ms":1764370000456}
        """
    }

    func event(_ body: String, headers: [MessageHeader] = []) throws(EventRejection) -> ChangeEvent {
        try decoder.decode(Self.message(body, headers: headers))
    }

    func record(_ body: String) throws -> RecordChange {
        guard case .record(let change) = try event(body).kind else { throw NoRecord() }
        return change
    }

    func rejection(_ body: String, headers: [MessageHeader] = []) -> EventRejection? {
        do throws(EventRejection) {
            _ = try event(body, headers: headers)
            return nil
        } catch {
            return error
        }
    }

    struct NoRecord: Error {}
}
