import ChangeEvents
import Essentials
import Messages
import Notifications
import Predicates
import Testing

@Suite("Webhooks of a Supabase database")
struct DatabaseWebhookTests {
    private static let source = TableSource(
        table: "songs", recordType: "Song", columns: ["title", "released"],
        types: [ByteText("released"): .moment(nil)])

    private static func body(_ type: String, record: String = "null", old: String = "null") -> String {
        #"{"type":"\#(type)","table":"songs","schema":"public","record":\#(record),"old_record":\#(old)}"#
    }

    private static func message(_ body: String) -> Message {
        var message = TableMessages.message(body)
        message.properties.messageID = "w-1"
        message.properties.appID = "/tokens/supabase"
        return message
    }

    private static let row = #"{"id":"a1","title":"Rain","released":"2026-01-31T12:00:00.5+00:00","meta":{"a":1}}"#

    @Test("INSERT, UPDATE and DELETE are the three record events, with the new row or the old one")
    func changes() throws {
        let decoder = EventDecoder(sources: TableSources([Self.source]))
        for (body, operation) in [
            (Self.body("INSERT", record: Self.row), RecordChange.Operation.created),
            (Self.body("UPDATE", record: Self.row, old: #"{"id":"a1"}"#), .updated),
            (Self.body("DELETE", old: Self.row), .deleted),
        ] {
            #expect(EventDecoder.isTableChange(Array(body.utf8)))
            let event = try decoder.decode(Self.message(body))
            #expect(event.identifier == "w-1" && event.source == "/tokens/supabase")
            guard case .record(let change) = event.kind else { return #expect(Bool(false), "\(event)") }
            #expect(change.operation == operation && change.recordName == "a1")
            #expect(change.fields["released"] == .date(milliseconds: 1_769_860_800_500))
            #expect(change.fields.paths == ["released", "title"])
        }
    }

    @Test("An object in a column is refused until the column is left out, and a row has to be there")
    func faults() {
        var source = Self.source
        source.columns = []
        let decoder = EventDecoder(sources: TableSources([source]))
        for (body, word) in [
            (Self.body("INSERT", record: Self.row), "record.meta"), (Self.body("INSERT"), "record is missing"),
            (Self.body("DELETE", record: Self.row), "old_record is missing"),
            (Self.body("INSERT", record: Self.row).replacing("songs", with: "albums"), "table = \"public.albums\""),
        ] {
            let rejection = #expect(throws: EventRejection.self) { try decoder.decode(Self.message(body)) }
            #expect(rejection?.message.contains(word) == true, "\(String(describing: rejection))")
        }
    }

    @Test("Other JSON is no change of a table")
    func others() {
        for text in [
            "", "{}", #"{"type":"INSERT","table":"songs"}"#, #"{"type":"TRUNCATE","table":"songs","record":null}"#,
            #"{"app":"chat","topic":"record","notification":{"title":"source"}}"#, #"{"op":"c","source":"x"}"#,
            #"{"record":{"source":"#,
        ] {
            #expect(!EventDecoder.isTableChange(Array(text.utf8)), "\(text)")
        }
        #expect(EventDecoder.isTableChange(Array(TableMessages.envelope("c", after: "{}").utf8)))
    }
}
