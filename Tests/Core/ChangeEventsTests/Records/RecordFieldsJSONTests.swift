import ChangeEvents
import Geography
import JSON
import Notifications
import Predicates
import PushTestKit
import Testing

@Suite("Records: fields from JSON")
struct RecordFieldsJSONTests {
    private func fields(_ json: String) throws -> RecordFields {
        let object = try #require(try JSONParser().parse(json).object)
        return try RecordFields(json: object, path: "data.fields")
    }

    private func rejection(_ json: String) -> EventRejection? {
        do {
            _ = try fields(json)
            return nil
        } catch {
            return error as? EventRejection
        }
    }

    @Test("Plain JSON is read by its form; null is missing")
    func plain() throws {
        let fields = try fields(
            """
            {"text": "e\u{301}", "whole": 3, "also": 3.0, "part": 3.5, "huge": 18446744073709551615, "flag": true,
             "gone": null, "list": ["a", 1, null, [2], {"b": 3}, {"recordName": "r"}], "none": []}
            """)
        #expect(fields["text"] == .string("\u{e9}"))
        #expect(fields["whole"] == .integer(3))
        #expect(fields["also"] == .integer(3))
        #expect(fields["part"] == .double(3.5))
        #expect(fields["huge"] == .double(0x1p64))
        #expect(fields["flag"] == .boolean(true))
        #expect(fields["gone"] == nil)
        #expect(fields["list"] == .list([.string("a"), .integer(1), .reference(to: "r")]))
        #expect(fields["none"] == .list([]))
    }

    @Test("Objects become paths of up to five names; places and references are values, and what else they have is too")
    func nested() throws {
        let fields = try fields(
            """
            {"author": {"name": "Mei", "home": {"city": {"name": {"short": "B", "deep": {"er": 1}}}}},
             "where": {"latitude": 52.5, "longitude": 13, "altitude": 9, "name": "Berlin"},
             "in": {"recordName": "A", "zoneID": {"zoneName": "z"}, "action": "NONE", "title": "T"}, "dotted.name": 1}
            """)
        #expect(
            fields.paths == [
                "author.home.city.name.short", "author.name", "dotted.name", "in", "in.title", "where", "where.name",
            ])
        #expect(fields["where"] == Location(latitude: 52.5, longitude: 13).map(FieldValue.location))
        #expect(fields["in"] == .reference(to: "A", zoneName: "z"))
    }

    @Test("A value with its type means the same in the record, in an object and in a list")
    func typedAtEveryDepth() throws {
        let fields = try fields(
            """
            {"a": {"b": {"c": {"value": "AQI=", "type": "BYTES"}, "d": {"value": 5}}},
             "l": [{"value": 1500, "type": "TIMESTAMP"}, {"value": "x"}, 7, {"value": [1], "type": "INT64_LIST"},
                   {"value": null, "type": "STRING"}, {"value": 20, "type": "celsius"}]}
            """)
        #expect(fields.paths == ["a.b.c", "a.b.d", "l"])
        #expect(fields["a.b.c"] == .bytes([1, 2]))
        #expect(fields["a.b.d"] == .integer(5))
        #expect(fields["l"] == .list([.date(milliseconds: 1500), .string("x"), .integer(7)]))
        let filter =
            #"[{"comparator": "LIST_CONTAINS_ANY", "fieldName": "l", "fieldValue": "#
            + #"{"value": [{"value": 1500, "type": "TIMESTAMP"}]}}]"#
        #expect(try JSONPredicates.filterBy(filter) == Predicate(parsing: "ANY l IN {date(1500)}"))
    }

    @Test("CloudKit's fields are read by their types, and objects that only look like them as objects")
    func cloudKit() throws {
        let fields = try fields(
            """
            {"s": {"value": "a", "type": "STRING"}, "i": {"value": 2.0, "type": "INT64"},
             "b": {"value": true, "type": "INT64"},
             "d": {"value": 2, "type": "DOUBLE"}, "t": {"value": 1500, "type": "TIMESTAMP"},
             "y": {"value": "AQI=", "type": "BYTES"}, "r": {"value": {"recordName": "x"}, "type": "REFERENCE"},
             "l": {"value": {"latitude": 1, "longitude": 2}, "type": "LOCATION"},
             "ts": {"value": [1, 2], "type": "TIMESTAMP_LIST"}, "e": {"value": [], "type": "UNKNOWN_LIST"},
             "u": {"value": "plain"}, "f": {"value": {"fileChecksum": "c"}, "type": "ASSETID"},
             "m": {"value": 20, "type": "celsius"}, "n": {"value": {"x": 1}}, "z": {"value": null, "type": "STRING"},
             "p": {"inner": {"value": 1, "type": "TIMESTAMP"}}}
            """)
        let expected: [(String, FieldValue?)] = [
            ("s", .string("a")), ("i", .integer(2)), ("b", .boolean(true)), ("d", .integer(2)),
            ("t", .date(milliseconds: 1500)), ("y", .bytes([1, 2])), ("r", .reference(to: "x")),
            ("l", Location(latitude: 1, longitude: 2).map(FieldValue.location)),
            ("ts", .list([.date(milliseconds: 1), .date(milliseconds: 2)])), ("e", .list([])),
            ("u", .string("plain")), ("f", nil), ("z", nil), ("m", nil), ("m.value", .integer(20)),
            ("m.type", .string("celsius")), ("n.value.x", .integer(1)), ("p.inner", .date(milliseconds: 1)),
            ("p.inner.value", nil),
        ]
        for (path, value) in expected { #expect(fields[path] == value, "\(path)") }
    }

    @Test("What is wrong is named with its path and without its contents")
    func rejections() {
        let long = String(repeating: "x", count: RecordLimits.textBytesMaximum + 1)
        let cases: [(String, String)] = [
            (
                #"{"a": {"value": "x", "type": "INT64"}}"#,
                "data.fields.a.value is a string of 1 byte; it must be a whole"
            ),
            (#"{"a": {"value": [1, "x"], "type": "INT64_LIST"}}"#, "data.fields.a.value[1] is a string of 1 byte"),
            (#"{"a": {"value": 1, "type": "STRING_LIST"}}"#, "data.fields.a.value is an integer; it must be an array"),
            (#"{"a": {"value": {}, "type": "REFERENCE"}}"#, "data.fields.a.value.recordName is an object without one"),
            (#"{"a": {"b": [{"latitude": 91, "longitude": 0}]}}"#, "data.fields.a.b[0] is no place on the Earth"),
            (#"{"a": {"recordName": "r", "zoneID": "z"}}"#, "data.fields.a.zoneID is a string of 1 byte; it must be"),
            (
                #"{"a": {"value": "%", "type": "BYTES"}}"#,
                "data.fields.a.value is a string of 1 byte; it must be a string"
            ),
            (#"{"a\u000a": "\#(long)"}"#, "data.fields.a? is a string of 65537 bytes"),
            (#"{"a": {"": 1}}"#, "data.fields.a is an object with an empty name in it"),
            (#"{"\#(long)": 1}"#, "data.fields is an object with a member whose path"),
            (
                "{\"a\": [\(Array(repeating: "1", count: RecordLimits.membersMaximum + 1).joined(separator: ","))]}",
                "data.fields.a is an array of more than 256 elements"
            ),
            (
                "{\((0...RecordLimits.fieldsMaximum).map { "\"\($0)\": 1" }.joined(separator: ","))}",
                "data.fields has more than 256 fields"
            ),
        ]
        for (json, message) in cases {
            let rejection = rejection(json)
            #expect(rejection?.reason == .invalidField)
            #expect(rejection?.message.hasPrefix(message) == true, "\(rejection?.message ?? "nothing") for \(message)")
        }
    }

    @Test("No object crashes the reading of records", arguments: [UInt64.random(in: 0...UInt64.max)])
    func survivesAnyObject(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let names = ["a", "value", "type", "latitude", "longitude", "recordName", "zoneID", "b.c"]
        let leaves = ["1", "-0.0", "1e400", "\"STRING\"", "\"BYTES_LIST\"", "\"x\"", "null", "true", "91", "[]", "{}"]
        func json(_ depth: Int) -> String {
            switch Int.random(in: 0...(depth > 6 ? 0 : 3), using: &generator) {
            case 0: return leaves.randomElement(using: &generator) ?? "1"
            case 1:
                let members = (0..<Int.random(in: 0...3, using: &generator)).map { _ in json(depth + 1) }
                return "[\(members.joined(separator: ","))]"
            default:
                let members = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    "\"\(names.randomElement(using: &generator) ?? "a")\":\(json(depth + 1))"
                }
                return "{\(members.joined(separator: ","))}"
            }
        }
        let parser = JSONParser()
        for _ in 0..<5000 {
            guard let object = try? parser.parse(json(0)).object else { continue }
            _ = try? RecordFields(json: object)
        }
    }
}
