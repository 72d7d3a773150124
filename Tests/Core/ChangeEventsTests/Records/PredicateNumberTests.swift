import Backoffice
import ChangeEvents
import DispatchCore
import JSON
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import Testing

@Suite("Predicates: their numbers")
struct PredicateNumberTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }

    private static let limits = [
        "9223372036854775807", "9223372036854775808", "9223372036854775809", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e19", "1e400", "-1e400", "1e-400",
        "36893488147419103232", "-18446744073709551616", "-0", "0.0", "9007199254740993", "9007199254740993.0",
        String(repeating: "9", count: 400),
    ]

    private static func number(using generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0...3, using: &generator) {
        case 0: limits.randomElement(using: &generator) ?? "0"
        case 1: String(UInt64.random(in: 0...UInt64.max, using: &generator))
        case 2: String(Int64.random(in: .min ... .max, using: &generator))
        default:
            (Bool.random(using: &generator) ? "-" : "") + "1"
                + String(
                    (0..<Int.random(in: 17...22, using: &generator)).map { _ in "0123456789".randomElement() ?? "0" })
        }
    }

    private static func predicate(_ json: String, _ read: (JSONValue) throws -> Predicate) throws -> Predicate {
        try read(try JSONParser(roundsNumbers: true).parse(json))
    }

    private static func fields(_ json: String) throws -> RecordFields {
        try RecordFields(json: try #require(try JSONParser(roundsNumbers: true).parse(json).object))
    }

    @Test("A number of any size means the same in all four languages and in a record", arguments: seeds)
    func oneMeaning(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<400 {
            let number = round < Self.limits.count ? Self.limits[round] : Self.number(using: &generator)
            let other = Self.number(using: &generator)
            for (text, cloudKit, appSync) in [
                ("=", "EQUALS", "eq"), ("<", "LESS_THAN", "lt"), (">=", "GREATER_THAN_OR_EQUALS", "ge"),
            ] {
                let predicate = try Predicate(parsing: "f \(text) \(number)")
                let filterBy =
                    #"[{"comparator": "\#(cloudKit)", "fieldName": "f", "fieldValue": {"value": \#(number)}}]"#
                let rule = #"{"fieldName": "f", "operator": "\#(appSync)", "value": \#(number)}"#
                let readings = [
                    try Self.predicate(filterBy) { try Predicate(filterBy: $0) },
                    try Self.predicate(#"[{"filters": [\#(rule)]}]"#) { try Predicate(filterGroup: $0) },
                    try Self.predicate(#"{"f": {"\#(appSync)": \#(number)}}"#) { try Predicate(filterInput: $0) },
                ]
                for record in [number, other] {
                    let plain = try Self.fields(#"{"f": \#(record)}"#)
                    let typed = try Self.fields(#"{"f": {"value": \#(record), "type": "DOUBLE"}}"#)
                    let holds = predicate.matches(plain)
                    guard predicate.matches(typed) == holds, readings.allSatisfy({ $0.matches(plain) == holds }) else {
                        Issue.record("seed \(seed): \(text) \(number) of a record with \(record)")
                        return
                    }
                    if record == number { #expect(holds == (text != "<"), "\(text) \(number)") }
                }
            }
        }
    }

    @Test(
        "A whole number beyond 64 bits is the nearest double, and one beyond all doubles the largest",
        arguments: [
            ("9223372036854775808", FieldValue.double(0x1p63)), ("18446744073709551615", .double(0x1p64)),
            ("18446744073709551616", .double(0x1p64)), ("-9223372036854775809", .integer(.min)),
            ("1e400", .double(.greatestFiniteMagnitude)), ("-1e400", .double(-.greatestFiniteMagnitude)),
        ])
    func values(text: String, value: FieldValue) throws {
        #expect(try Predicate(parsing: "f = \(text)") == Predicate(PredicateTerm("f", .equals(value, .exact))))
        #expect(try Self.fields(#"{"f": \#(text)}"#)["f"] == value)
        #expect(try Self.fields(#"{"f": {"value": \#(text), "type": "DOUBLE"}}"#)["f"] == value)
    }

    @Test("A typed number out of the range of its type is the nearest one of it, and the record stays readable")
    func typedValues() throws {
        let fields = try Self.fields(
            """
            {"i": {"value": 36893488147419103232, "type": "INT64"}, "t": {"value": 1e30, "type": "TIMESTAMP"},
             "b": {"value": -99999999999999999999, "type": "TIMESTAMP"}, "f": {"value": 1500.9, "type": "TIMESTAMP"}}
            """)
        #expect(fields["i"] == .double(0x1p65))
        #expect(fields["t"] == .date(milliseconds: .max))
        #expect(fields["b"] == .date(milliseconds: .min))
        #expect(fields["f"] == .date(milliseconds: 1500))
        for text in ["1e30", "-99999999999999999999", "1500.9"] {
            let filter =
                #"[{"comparator": "EQUALS", "fieldName": "t", "fieldValue": "#
                + #"{"value": \#(text), "type": "TIMESTAMP"}}]"#
            #expect(
                try Self.predicate(filter) { try Predicate(filterBy: $0) } == Predicate(parsing: "t = date(\(text))"))
        }
        #expect(throws: EventRejection.self) { try Self.fields(#"{"i": {"value": 1.5, "type": "INT64"}}"#) }
    }

    @Test("An event of a record with such a number is read; one that would pass the number on is refused")
    func events() throws {
        func event(_ type: String, _ data: String) -> [UInt8] {
            Array(#"{"specversion":"1.0","id":"1","source":"/s","type":"\#(type)","data":\#(data)}"#.utf8)
        }
        let decoding = EventDecoding()
        let record = try decoding.event(
            event("record.updated", #"{"recordType":"T","recordName":"r","fields":{"n":18446744073709551616,"m":1}}"#))
        guard case .record(let change) = record.kind else { throw JSONError(.invalidSyntax, "no record") }
        #expect(change.fields["n"] == .double(0x1p64))
        #expect(change.fields["m"] == .integer(1))
        let push = #"{"app":"a","deviceTokens":["00"],"notification":{"body":"x","data":{"n":18446744073709551616}}}"#
        let rejection = decoding.rejection(event("push.requested", push))
        #expect(rejection?.message.contains("send a larger one as a string") == true)
    }
}
