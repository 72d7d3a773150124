import ChangeEvents
import Essentials
import Geography
import Notifications
import Predicates
import Testing

@Suite("Types of columns, by the schema of an envelope")
struct RowSchemaTests {
    /// The schema of a column, and its value.
    private typealias Column = (schema: String, value: String)

    private static let columns: [String: Column] = [
        "id": (#""type":"int32""#, "1"),
        "day": (#""type":"int32","name":"io.debezium.time.Date","version":1"#, "-1"),
        "milli": (#""type":"int64","name":"io.debezium.time.Timestamp""#, "1764370000123"),
        "micro": (#""type":"int64","name":"io.debezium.time.MicroTimestamp""#, "-1"),
        "nano": (#""type":"int64","name":"io.debezium.time.NanoTimestamp""#, "1764370000123456789"),
        "zoned": (#""type":"string","name":"io.debezium.time.ZonedTimestamp""#, #""2025-11-28T22:46:40.123456Z""#),
        "forever": (#""type":"string","name":"io.debezium.time.ZonedTimestamp""#, #""+294247-01-10T04:00:54.775807Z""#),
        "iso": (#""type":"string","name":"io.debezium.time.IsoDate""#, #""1970-01-02Z""#),
        "price": (
            #""type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}"#, #""BN4=""#
        ),
        "any": (
            #""type":"struct","name":"io.debezium.data.VariableScaleDecimal","fields":[]"#,
            #"{"scale":3,"value":"/w=="}"#
        ),
        "ratio": (#""type":"double""#, #""NaN""#), "limit": (#""type":"float""#, #""Infinity""#),
        "blob": (#""type":"bytes""#, #""AAEC""#), "year": (#""type":"int32","name":"io.debezium.time.Year""#, "1999"),
        "uuid": (#""type":"string","name":"io.debezium.data.Uuid""#, #""f7e0""#),
        "tags": (#""type":"array","items":{"type":"string"}"#, #"["live",null,"new"]"#),
        "days": (#""type":"array","items":{"type":"int32","name":"io.debezium.time.Date"}"#, "[0,1]"),
        "place": (
            #""type":"struct","name":"io.debezium.data.geometry.Point","fields":[]"#,
            #"{"x":13.4,"y":52.5,"wkb":"AQEAAAA=","srid":null}"#
        ),
        "shape": (
            #""type":"struct","name":"io.debezium.data.geometry.Geometry","fields":[]"#,
            #"{"wkb":"AQEAACDmEAAAzczMzMzMKkAAAAAAAEBKQA==","srid":4326}"#
        ),
        "toast": (#""type":"string""#, #""__debezium_unavailable_value""#),
        "toasts": (#""type":"array","items":{"type":"string"}"#, #"["__debezium_unavailable_value"]"#),
        "lost": (#""type":"bytes""#, #""X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==""#),
    ]

    private static func message(_ columns: [String: Column]) -> String {
        let sorted = columns.sorted { $0.key < $1.key }
        let fields = sorted.map { #"{\#($0.value.schema),"optional":true,"field":"\#($0.key)"}"# }
            .joined(separator: ",")
        let row = sorted.map { #""\#($0.key)":\#($0.value.value)"# }.joined(separator: ",")
        let envelope = TableMessages.envelope("c", after: "{\(row)}")
        return #"""
            {"schema":{"type":"struct","fields":[{"type":"struct","fields":[],"optional":true,"field":"before"},
            {"type":"struct","fields":[\#(fields)],"optional":true,"name":"shop.public.songs.Value","field":"after"},
            {"type":"string","optional":false,"field":"op"}],"optional":false,"name":"shop.public.songs.Envelope"},
            "payload":\#(envelope)}
            """#
    }

    @Test("Each of Debezium's types that an event carries becomes the field that the same value has elsewhere")
    func carried() throws {
        let change = try TableMessages(TableMessages.songs).record(Self.message(Self.columns))
        let place = try #require(Location(latitude: 52.5, longitude: 13.4))
        let expected: [(String, FieldValue)] = [
            ("any", .double(-0.001)), ("blob", .bytes([0, 1, 2])), ("day", .date(milliseconds: -86_400_000)),
            ("days", .list([.date(milliseconds: 0), .date(milliseconds: 86_400_000)])),
            ("forever", .date(milliseconds: .max)), ("id", .integer(1)), ("iso", .date(milliseconds: 86_400_000)),
            ("limit", .double(.greatestFiniteMagnitude)), ("micro", .date(milliseconds: -1)),
            ("milli", .date(milliseconds: 1_764_370_000_123)), ("nano", .date(milliseconds: 1_764_370_000_123)),
            ("place", .location(place)), ("price", .double(12.46)), ("shape", .location(place)),
            ("tags", .list([.string("live"), .string("new")])), ("uuid", .string("f7e0")), ("year", .integer(1999)),
            ("zoned", .date(milliseconds: 1_764_370_000_123)),
        ]
        #expect(change.fields == RecordFields(expected.map { (path: $0.0, value: $0.1) }))
    }

    @Test(
        "A type that no event carries is refused, unless its column is left out, or declared",
        arguments: [
            (#""type":"string","name":"io.debezium.data.Json""#, #""{}""#),
            (#""type":"int64","name":"io.debezium.time.MicroTime""#, "1"),
            (#""type":"int64","name":"io.debezium.time.MicroDuration""#, "1"),
            (#""type":"bytes","name":"io.debezium.data.Bits""#, #""AQ==""#),
            (#""type":"map""#, "{}"),
            (#""type":"array","items":{"type":"array","items":{"type":"int32"}}"#, "[[1]]"),
        ])
    func refused(schema: String, value: String) throws {
        let message = Self.message(["id": (#""type":"int32""#, "1"), "x": (schema, value)])
        let rejection = TableMessages(TableMessages.songs).rejection(message)
        #expect(rejection?.reason == .invalidField && rejection?.message.contains("after.x") == true)
        #expect(rejection?.message.contains("columns") == true)
        var source = TableMessages.songs
        source.columns = ["id"]
        #expect(try TableMessages(source).record(message).fields.paths == ["id"])
        guard value.hasPrefix("\"") else { return }
        source.columns = []
        source.types = [ByteText("x"): .text]
        #expect(try TableMessages(source).record(message).fields["x"] != nil)
    }

    @Test("A value that its type does not have is refused with its column, and never shown")
    func wrongValues() {
        for (name, value) in [
            ("day", "1.5"), ("zoned", #""secret""#), ("price", #""!!""#), ("price", "7"), ("place", #"{"x":1,"y":91}"#),
            ("shape", #"{"wkb":"AQEAAAA=","srid":4326}"#), ("blob", #""?""#), ("ratio", #""secret""#),
            ("tags", "{}"), ("tags", #"[["secret"]]"#), ("any", #"{"scale":1}"#),
        ] {
            var columns = Self.columns
            columns[name]?.value = value
            let rejection = TableMessages(TableMessages.songs).rejection(Self.message(columns))
            #expect(rejection?.reason == .invalidField, "\(name) \(value)")
            #expect(rejection?.message.contains("after.\(name)") == true, "\(String(describing: rejection))")
            #expect(rejection?.message.contains("secret") == false)
        }
    }
}
