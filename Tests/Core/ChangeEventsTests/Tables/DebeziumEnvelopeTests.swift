import ChangeEvents
import Essentials
import Messages
import Notifications
import Predicates
import Testing

@Suite("Debezium's envelopes")
struct DebeziumEnvelopeTests {
    private static let row = #"{"id":17,"title":"Rain","price":12.5,"sold":null}"#
    private let messages = TableMessages(TableMessages.songs)

    @Test("An insert of PostgreSQL is a record that was created, named by its key, with its columns as fields")
    func created() throws {
        let event = try messages.event(TableMessages.envelope("c", after: Self.row))
        guard case .record(let change) = event.kind else { return #expect(Bool(false), "\(event)") }
        #expect(change.operation == .created && change.recordType == "Song" && change.recordName == "17")
        #expect(change.app == nil && change.zoneName == FieldValue.defaultZoneName && change.database == .public)
        #expect(change.fields.paths == ["id", "price", "title"])
        #expect(change.fields["price"] == .double(12.5) && change.fields["title"] == .string("Rain"))
        #expect(event.source == "/debezium/postgresql/shop/store/public/songs")
        #expect(event.identifier == "c;lsn:24023128;txId:555;17")
        #expect(event.time == WallTime(milliseconds: 1_764_370_000_123))
        #expect(event.type == .recordCreated)
    }

    @Test("An update has the new row; a deletion has the old one, as far as the database tells it")
    func updatedAndDeleted() throws {
        let updated = try messages.record(
            TableMessages.envelope("u", before: #"{"id":17,"price":20}"#, after: Self.row))
        #expect(updated.operation == .updated && updated.fields["price"] == .double(12.5))
        let deleted = try messages.record(TableMessages.envelope("d", before: #"{"id":17,"title":null,"price":null}"#))
        #expect(deleted.operation == .deleted && deleted.recordName == "17" && deleted.fields.paths == ["id"])
        let whole = try messages.record(TableMessages.envelope("d", before: Self.row))
        #expect(whole.fields["title"] == .string("Rain"))
        let nothing = messages.rejection(TableMessages.envelope("d"))
        #expect(nothing?.reason == .missingField && nothing?.message.contains("REPLICA IDENTITY") == true)
    }

    @Test("A row of a snapshot is skipped unless it is asked for; then it was created")
    func snapshot() throws {
        #expect(messages.rejection(TableMessages.envelope("r", after: Self.row))?.reason == .skipped)
        var source = TableMessages.songs
        source.changes.insert(.snapshot)
        let asking = TableMessages(source)
        #expect(try asking.record(TableMessages.envelope("r", after: Self.row)).operation == .created)
        source.changes = []
        #expect(TableMessages(source).rejection(TableMessages.envelope("c", after: Self.row))?.reason == .skipped)
    }

    @Test(
        "What tells of no row is skipped: truncates, messages, tombstones, heartbeats, transactions, schemas",
        arguments: [
            TableMessages.envelope("t"), TableMessages.envelope("m", table: ""), "", "default", "null",
            #"{"schema":null,"payload":null}"#, #"{"ts_ms":1764370000123}"#,
            #"{"schema":{"type":"struct"},"payload":{"ts_ms":1,"ts_us":2,"ts_ns":3}}"#,
            #"{"status":"BEGIN","id":"571:53195829","event_count":null,"data_collections":null,"ts_ms":1}"#,
            #"{"source":{"connector":"mysql"},"databaseName":"store","ddl":"CREATE TABLE a","tableChanges":[]}"#,
        ])
    func skipped(body: String) { #expect(messages.rejection(body)?.reason == .skipped, "\(body)") }

    @Test("Without a source an empty body and the like stay dead letters")
    func withoutSources() {
        let none = TableMessages()
        #expect(none.rejection("")?.reason == .invalidJSON && none.rejection("default")?.reason == .invalidJSON)
        #expect(none.rejection(#"{"ts_ms":1764370000123}"#)?.reason == .missingField)
    }

    @Test("A dead letter says where the change stands in the database's log, even of a table without a source")
    func outline() {
        let message = TableMessages.message(TableMessages.envelope("c", after: Self.row))
        #expect(messages.decoder.outline(of: message).identifier == "c;lsn:24023128;txId:555;17")
        let unknown = TableMessages().decoder.outline(of: message)
        #expect(unknown.identifier == "c;lsn:24023128;txId:555")
        #expect(unknown.source == "/debezium/postgresql/shop/store/public/songs")
    }

    @Test("A table without a source is named with the lines of configuration that it needs")
    func unknownTable() throws {
        let rejection = try #require(messages.rejection(TableMessages.envelope("c", after: Self.row, table: "albums")))
        #expect(rejection.reason == .unknownTable)
        let lines = [
            "store.public.albums", "[[source]]", #"table = "public.albums""#, #"record_type = "albums""#,
            #"key = ["id"]"#, "changes = []",
        ]
        for line in lines { #expect(rejection.message.contains(line), "\(rejection)") }
        let other = TableMessages.envelope("c", after: #"{"isbn":"3","n":1}"#, table: "books")
        #expect(messages.rejection(other)?.message.contains(#"key = ["isbn"]"#) == true)
    }

    @Test("The source that names a table with the most parts counts")
    func mostParts() throws {
        let sources = [("songs", "A"), ("public.songs", "B"), ("other.public.songs", "C"), ("ongs", "D")].map {
            TableSource(table: $0.0, recordType: $0.1)
        }
        let envelope = TableMessages.envelope("c", after: Self.row)
        let decoder = EventDecoder(sources: TableSources(sources))
        guard case .record(let change) = try decoder.decode(TableMessages.message(envelope)).kind else { return }
        #expect(change.recordType == "B")
    }

    @Test("A change that comes again is the same event; another row, operation or place in the log is another")
    func identity() throws {
        func identifier(_ operation: String, _ id: Int, lsn: Int64 = 1) throws -> String {
            let row = #"{"id":\#(id)}"#
            return try messages.event(TableMessages.envelope(operation, before: row, after: row, lsn: lsn)).identifier
        }
        #expect(try identifier("c", 1) == identifier("c", 1))
        let others = [
            try identifier("c", 1), try identifier("u", 1), try identifier("d", 1), try identifier("c", 2),
            try identifier("c", 1, lsn: 2),
        ]
        #expect(Set(others).count == others.count)
        let long = String(repeating: "é", count: 128)
        let event = try messages.event(TableMessages.envelope("c", after: #"{"id":"\#(long)"}"#))
        #expect(event.identifier.utf8.count <= 255 && event.routingKey.utf8.count <= 255)
    }

    @Test("MySQL's envelope has no schema of the database, and its place in the log is another")
    func mysql() throws {
        let body = #"""
            {"before":null,"after":{"id":1004,"email":"annek@noanswer.org","joined":17532,"seen":1540926090000},
            "source":{"version":"3.0.8.Final","connector":"mysql","name":"crm","ts_ms":1465491411000,"snapshot":"false",
            "db":"inventory","sequence":null,"table":"customers","server_id":223344,"gtid":null,
            "file":"mysql-bin.000003","pos":154,"row":0,"thread":7,"query":null},"op":"c","ts_ms":1465491411055,
            "transaction":null}
            """#
        let source = TableSource(
            table: "inventory.customers", recordType: "Customer", columns: ["email", "joined", "seen"],
            types: [ByteText("joined"): .moment(.days), ByteText("seen"): .moment(.milliseconds)], zoneName: "crm",
            app: "chat")
        let event = try TableMessages(source).event(body)
        guard case .record(let change) = event.kind else { return #expect(Bool(false)) }
        #expect(change.recordName == "1004" && change.zoneName == "crm" && change.app == "chat")
        #expect(change.fields.paths == ["email", "joined", "seen"])
        #expect(change.fields["joined"] == .date(milliseconds: 17_532 * 86_400_000))
        #expect(change.fields["seen"] == .date(milliseconds: 1_540_926_090_000))
        #expect(event.identifier == "c;file:mysql-bin.000003;pos:154;row:0;1004")
        #expect(event.source == "/debezium/mysql/crm/inventory/customers")
    }

    @Test("The names of a key with several columns are joined, and no two keys are one name")
    func compositeKey() throws {
        var source = TableMessages.songs
        source.key = ["artist", "day", "number"]
        source.types = [ByteText("day"): .moment(.days)]
        let messages = TableMessages(source)
        let row = #"{"artist":"AC/DC 100%","day":20000,"number":-3}"#
        #expect(
            try messages.record(TableMessages.envelope("c", after: row)).recordName
                == "AC%2FDC 100%25/2024-10-04/-3")
        for (row, word) in [
            (#"{"artist":null,"day":1,"number":1}"#, "after.artist is missing"),
            (#"{"day":1,"number":1}"#, "after.artist is missing"),
            (#"{"artist":1.5,"day":1,"number":1}"#, "after.artist"), (#"{"artist":"a\nb","day":1,"number":1}"#, "key"),
            (#"{"artist":"\#(String(repeating: "a", count: 300))","day":1,"number":1}"#, "256"),
        ] {
            let rejection = messages.rejection(TableMessages.envelope("c", after: row))
            #expect(rejection?.message.contains(word) == true, "\(String(describing: rejection))")
        }
    }

    @Test("Columns that a source names have to be there, but in a deleted row")
    func missingColumns() throws {
        var source = TableMessages.songs
        source.columns = ["title"]
        let messages = TableMessages(source)
        let rejection = messages.rejection(TableMessages.envelope("c", after: #"{"id":1,"titel":"x"}"#))
        #expect(rejection?.reason == .missingField && rejection?.message.contains("after.title") == true)
        #expect(try messages.record(TableMessages.envelope("d", before: #"{"id":1}"#)).fields.paths.isEmpty)
    }

    @Test("Whatever is no envelope is refused as before, with the way to an outbox if it looks like one")
    func others() {
        #expect(messages.rejection("{}")?.message.contains("property type is missing") == true)
        #expect(messages.rejection(TableMessages.envelope("x", after: Self.row))?.reason == .invalidField)
        #expect(messages.rejection(TableMessages.envelope("c", after: "[]"))?.reason == .invalidField)
    }
}
