import ChangeEvents
import Geography
import Predicates
import PushTestKit
import Testing

@testable import Relay

@Suite("The types of columns in events")
struct RecordTypeTests {
    private static let largest = Double.greatestFiniteMagnitude

    /// A type of SQL, a value of it, and the field that a worker reads; nil for none.
    static let values: [(type: String, value: String, field: FieldValue?)] = [
        ("text", "''", .string("")), ("text", "E'e\\u0301 \\n\\u0001\"'", .string("\u{e9} \n\u{1}\"")),
        ("varchar(9)", "'Rain '", .string("Rain ")), ("char(6)", "' ab'", .string(" ab")),
        ("name", "'n'", .string("n")),
        ("citext", "'MiXed'", .string("MiXed")), ("citext", "''", .string("")),
        ("uuid", "'0B9B7EC3-0000-4000-8000-00000000ABCD'", .string("0b9b7ec3-0000-4000-8000-00000000abcd")),
        ("mood", "'so, \"so\"'", .string("so, \"so\"")), ("short", "'abc'", .string("abc")),
        ("smallint", "-32768", .integer(-32_768)), ("int", "2147483647", .integer(2_147_483_647)),
        ("bigint", "-9223372036854775808", .integer(.min)), ("bigint", "9223372036854775807", .integer(.max)),
        ("numeric", "19.99", .double(19.99)), ("numeric(10,2)", "20", .integer(20)), ("price", "1.50", .double(1.5)),
        ("numeric", "9007199254740993.000", .integer(9_007_199_254_740_993)),
        ("numeric", "9223372036854775808", .double(0x1p63)), ("numeric", "1e-400", .integer(0)),
        ("numeric", "-1e5000", .double(-largest)), ("numeric", "'Infinity'", .double(largest)),
        ("numeric", "'NaN'", nil),
        ("real", "0.1", .double(0.1)), ("real", "16777216", .integer(16_777_216)),
        ("real", "'-Infinity'", .double(-largest)), ("double precision", "0.1", .double(0.1)),
        ("double precision", "5e-324", .double(.leastNonzeroMagnitude)), ("double precision", "'-0'", .integer(0)),
        ("double precision", "-100968574059250784", .integer(-100_968_574_059_250_784)),
        ("double precision", "1.7976931348623157e308", .double(largest)), ("double precision", "'NaN'", nil),
        ("double precision", "'Infinity'", .double(largest)), ("double precision", "NULL", nil),
        ("boolean", "true", .boolean(true)), ("boolean", "false", .boolean(false)),
        ("timestamptz", "'2026-01-31 12:00:00.123999+01'", .date(milliseconds: 1_769_857_200_123)),
        ("timestamptz", "'1969-12-31 23:59:59.9999Z'", .date(milliseconds: -1)),
        ("timestamptz", "'infinity'", .date(milliseconds: .max)),
        ("timestamptz", "'-infinity'", .date(milliseconds: .min)),
        ("timestamp", "'2026-01-31 12:00:00'", .date(milliseconds: 1_769_860_800_000)),
        ("date", "'2026-01-31'", .date(milliseconds: 1_769_817_600_000)),
        ("date", "'5874897-12-31'", .date(milliseconds: 185_331_706_992_000_000)),
        ("date", "'4713-01-01 BC'", .date(milliseconds: -210_863_520_000_000)),
        ("date", "'infinity'", .date(milliseconds: .max)),
        ("bytea", "'\\x'", .bytes([])), ("bytea", "decode(repeat('00ff', 60), 'hex')", .bytes(repeated)),
        ("point", "'(13.405,52.52)'", Location(latitude: 52.52, longitude: 13.405).map { .location($0) }),
        ("spot", "'(-180,-90)'", Location(latitude: -90, longitude: -180).map { .location($0) }),
        ("text[]", "ARRAY['a', NULL, '', '\"']", .list([.string("a"), .string(""), .string("\"")])),
        ("text[]", "'{}'", .list([])), ("text[]", "NULL", nil), ("text[]", "'[3:4]={a,b}'", list("a", "b")),
        ("char(3)[]", "'{a,b}'", list("a", "b")), ("citext[]", "'{A,NULL,\"\"}'", list("A", "")),
        ("mood[]", "ARRAY['so, \"so\"', 'low']::mood[]", list("so, \"so\"", "low")), ("tags", "'{a}'", list("a")),
        ("bigint[]", "'{9223372036854775807,1}'", .list([.integer(.max), .integer(1)])),
        ("numeric[]", "'{1.50,NaN,NULL,2}'", .list([.double(1.5), .integer(2)])),
        ("real[]", "'{0.1,-Infinity}'", .list([.double(0.1), .double(-largest)])),
        ("boolean[]", "'{t,f}'", .list([.boolean(true), .boolean(false)])),
        ("date[]", "'{1970-01-02,NULL}'", .list([.date(milliseconds: 86_400_000)])),
        ("bytea[]", "ARRAY['\\x01'::bytea]", .list([.bytes([1])])),
        ("point[]", "ARRAY['(2,1)'::point]", Location(latitude: 1, longitude: 2).map { .list([.location($0)]) }),
        ("uuid[]", "ARRAY['0b9b7ec3-0000-4000-8000-00000000abcd'::uuid]", list("0b9b7ec3-0000-4000-8000-00000000abcd")),
    ]

    private static let repeated: [UInt8] = (0..<120).map { $0 % 2 == 0 ? 0 : 255 }

    private static func list(_ texts: String...) -> FieldValue { .list(texts.map { .string($0) }) }

    private static let typesOfItsOwn = """
        CREATE EXTENSION citext; CREATE TYPE mood AS ENUM ('low', 'so, "so"'); CREATE DOMAIN short AS varchar(3);
        CREATE DOMAIN base_price AS numeric(10,2); CREATE DOMAIN price AS base_price CHECK (VALUE > 0);
        CREATE DOMAIN spot AS point; CREATE DOMAIN tags AS text[];
        """

    @Test("Every type that is carried becomes the field that predicates compare, whatever the session has set")
    func types() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(Self.typesOfItsOwn)
        let columns = Self.values.indices.map { "c\($0) \(Self.values[$0].type)" }
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, \(columns.joined(separator: ", ")))")
        try await outbox.run(WatchSQL(table: "songs", recordType: "Song").text)
        try await outbox.run(
            """
            SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -5;
            SET bytea_output = 'escape'; SET IntervalStyle = 'iso_8601'; SET search_path = pg_temp, public;
            SET xmlbinary = 'hex'; SET standard_conforming_strings = on;
            """ + "INSERT INTO public.songs VALUES (1, \(Self.values.map(\.value).joined(separator: ", ")))")
        let fields = try #require(try outbox.takeRecords().first).fields
        for (index, value) in Self.values.enumerated() {
            #expect(fields["c\(index)"] == value.field, "\(value.type) \(value.value)")
        }
    }

    @Test(
        "A point of PostGIS is a place, whatever schema the extension is in; other shapes are refused",
        .enabled("PostGIS is installed for the PostgreSQL of the tests") {
            let wanted = "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis'"
            return try await TestOutbox.make().run(wanted) == "1"
        }, arguments: ["public", "Gis"])
    func placesOfPostGIS(schema: String) async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE SCHEMA IF NOT EXISTS "\(schema)"; CREATE EXTENSION postgis SCHEMA "\(schema)";
            SET search_path = public, "\(schema)"; CREATE DOMAIN public.spot AS geography(PointZ,4326);
            CREATE TABLE cafes (id int PRIMARY KEY, a geometry(Point,4326), b geography(Point,4326), c spot,
                d geometry(Point,4326));
            """)
        try await outbox.run(WatchSQL(table: "cafes", recordType: "Cafe").text)
        try await outbox.run(
            """
            INSERT INTO cafes VALUES (1, 'SRID=4326;POINT(13.405 52.52)', 'SRID=4326;POINT(-180 -90)',
                'SRID=4326;POINTZ(1 2 3)', NULL)
            """)
        let fields = try #require(try outbox.takeRecords().first).fields
        for (name, place) in [("a", (52.52, 13.405)), ("b", (-90, -180)), ("c", (2, 1))] {
            let expected = Location(latitude: place.0, longitude: place.1).map { FieldValue.location($0) }
            #expect(expected != nil && fields[name] == expected, "\(name)")
        }
        #expect(fields["d"] == nil)
        for type in ["geometry", "geometry(Point,3857)", "geometry(Polygon,4326)", "geography(LineString,4326)"] {
            try await outbox.run(
                "SET search_path = public, \"\(schema)\"; DROP TABLE IF EXISTS shops;"
                    + "CREATE TABLE shops (id int PRIMARY KEY, a \(type))")
            await #expect(throws: (any Error).self, "\(type)") {
                try await outbox.run(WatchSQL(table: "shops", recordType: "Shop").text)
            }
        }
    }

    @Test("The changes of random rows, folded in their order, are the table; each change is told once, and no other")
    func randomChanges() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let outbox = try await TestOutbox.make()
        try await outbox.run(Self.typesOfItsOwn)
        var walk = try await RecordWalk(outbox, seed: seed)
        for _ in 0..<300 {
            try walk.step()
            try #require(walk.problem == nil, "seed \(seed): \(walk.problem ?? "")")
        }
        #expect(walk.changeCount > 300, "seed \(seed)")
    }
}
