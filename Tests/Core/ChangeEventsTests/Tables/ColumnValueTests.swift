import ChangeEvents
import Essentials
import JSON
import Notifications
import Predicates
import PushTestKit
import Testing

@Suite("Values of columns against a naive reading")
struct ColumnValueTests {
    private static let seeds = (0..<4).map { _ in UInt64.random(in: 0...UInt64.max) }

    /// The field of a column of a declared type.
    private static func field(_ type: String, _ json: String) throws -> FieldValue? {
        var source = TableMessages.songs
        let declared = try #require(ColumnType(declared: type))
        source.types = [ByteText("x"): declared]
        return try TableMessages(source).record(TableMessages.envelope("c", after: #"{"id":1,"x":\#(json)}"#))
            .fields["x"]
    }

    /// The bytes of a number in two's complement, as Java's `BigInteger.toByteArray` makes them, in base64.
    private static func unscaled(_ number: Int128) -> String {
        var bytes: [UInt8] = []
        var rest = number
        repeat {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while !(rest == 0 && bytes[0] < 0x80 || rest == -1 && bytes[0] >= 0x80)
        return "\"\(Base64.encode(bytes))\""
    }

    /// The same number as a person writes it.
    private static func text(_ number: Int128, scale: Int) -> String {
        let digits = String(number.magnitude)
        let padded = String(repeating: "0", count: max(0, scale + 1 - digits.count)) + digits
        let whole = padded.dropLast(scale)
        var fraction = padded.suffix(scale)
        while fraction.last == "0" { fraction.removeLast() }
        return (number < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : ".\(fraction)")
    }

    @Test("A decimal is the field that its text is as a number of JSON", arguments: seeds)
    func decimals(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bits = Int.random(in: 1...120, using: &generator)
            let number = Int128.random(in: -(1 << bits)...(1 << bits), using: &generator)
            let scale = Int.random(in: 0...25, using: &generator)
            let text = Self.text(number, scale: scale)
            let expected = try FieldValue.plain(try JSONParser(roundsNumbers: true).parse(text))
            #expect(
                try Self.field("decimal(\(scale))", Self.unscaled(number)) == expected, "seed \(seed): \(text)")
            #expect(try Self.field("decimal", "\"\(text)\"") == expected, "seed \(seed): \(text)")
            #expect(
                try Self.field("decimal", #"{"scale":\#(scale),"value":\#(Self.unscaled(number))}"#) == expected,
                "seed \(seed): \(text)")
        }
    }

    @Test("Decimals of any size are read, and those that are none are refused")
    func decimalLimits() throws {
        #expect(try Self.field("decimal(0)", #""AA==""#) == .integer(0))
        #expect(try Self.field("decimal(-3)", #""AQ==""#) == .integer(1_000))
        #expect(try Self.field("decimal(0)", #""f/////////8=""#) == .integer(.max))
        #expect(try Self.field("decimal(0)", #""gAAAAAAAAAA=""#) == .integer(.min))
        #expect(try Self.field("decimal(0)", #""AIAAAAAAAAAA""#) == .double(0x1p63))
        let large = Base64.encode([0x7f] + Array(repeating: 0xff, count: 1_023))
        #expect(try Self.field("decimal(0)", "\"\(large)\"") == .double(.greatestFiniteMagnitude))
        #expect(try Self.field("number", #""1e2""#) == .integer(100))
        #expect(try Self.field("number", #""NaN""#) == nil)
        for text in ["", ".", "1.2.3", "0x10", "1e", "1e999999999", "--1", "1 "] {
            #expect(throws: EventRejection.self, "\(text)") { try Self.field("number", "\"\(text)\"") }
        }
        #expect(throws: EventRejection.self) { try Self.field("decimal(0)", "\"\(large)AAAA\"") }
        #expect(throws: EventRejection.self) { try Self.field("decimal(0)", "\"\"") }
    }

    private static func expected(_ count: Int64, nanosecondsPerUnit: Int128) -> FieldValue {
        let nanoseconds = Int128(count) * nanosecondsPerUnit
        let remainder = (nanoseconds % 1_000_000 + 1_000_000) % 1_000_000
        return .date(milliseconds: Int64(clamping: (nanoseconds - remainder) / 1_000_000))
    }

    @Test("A moment is its milliseconds, rounded down, in each unit and as a text", arguments: seeds)
    func moments(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let units: [(String, Int128)] = [
            ("date", 86_400_000_000_000), ("timestamp-ms", 1_000_000), ("timestamp-us", 1_000), ("timestamp-ns", 1),
        ]
        for _ in 0..<200 {
            for (type, nanoseconds) in units {
                let bits = Int.random(in: 1...62, using: &generator)
                let count = Int64.random(in: -(1 << bits)...(1 << bits), using: &generator)
                #expect(
                    try Self.field(type, "\(count)") == Self.expected(count, nanosecondsPerUnit: nanoseconds),
                    "seed \(seed): \(count) \(type)")
            }
            let milliseconds = Int64.random(in: 0...253_402_300_799_999, using: &generator)
            let text = WallTime.text(milliseconds: milliseconds)
            for form in [text, String(text.dropLast()), text.replacing("T", with: " "), "\(text.dropLast())999+00:00"] {
                #expect(
                    try Self.field("timestamp", "\"\(form)\"") == .date(milliseconds: milliseconds),
                    "seed \(seed): \(form)")
            }
            #expect(
                try Self.field("date", "\"\(text.prefix(10))\"")
                    == .date(milliseconds: milliseconds - milliseconds % 86_400_000))
        }
    }

    @Test("Infinities are the first and the last moment, and other texts are no moment")
    func momentLimits() throws {
        for (text, milliseconds) in [
            ("infinity", Int64.max), ("-infinity", .min), ("+10000-01-01T00:00:00Z", .max),
            ("-290308-12-31T19:59:59Z", .min),
        ] {
            #expect(try Self.field("timestamp", "\"\(text)\"") == .date(milliseconds: milliseconds))
        }
        for json in ["5", "\"\"", #""soon""#, #""2026-13-01""#, #""2026-01-01T25:00:00Z""#, #""-infinities""#, "true"] {
            #expect(throws: EventRejection.self, "\(json)") { try Self.field("timestamp", json) }
        }
    }

    @Test("Only the names of types that the documents have can be declared")
    func declarations() {
        for name in ColumnType.declarable.split(separator: ", ").map({ String($0).replacing("SCALE", with: "2") }) {
            #expect(ColumnType(declared: name) != nil, "\(name)")
        }
        for name in ["", "json", "decimal()", "decimal(x)", "decimal(99999999999999999999)", "decimal(2"] {
            #expect(ColumnType(declared: name) == nil, "\(name)")
        }
    }
}
