import JSON
import Predicates
import PushTestKit
import Testing

@Suite("CloudKit's filters")
struct CloudKitFilterTests {
    /// A comparator, its value, records that it takes, and records that it does not; the field is `f`.
    struct Case: Sendable, CustomTestStringConvertible {
        let comparator: String
        let value: String
        let matching: [String]
        let others: [String]
        var rest = ""
        var testDescription: String { "\(comparator) \(value)" }
    }

    private static let missing = "{}"
    private static let long = String(repeating: "x", count: PredicateLimits.textBytesMaximum + 1)

    private static let cases: [Case] = [
        Case(
            comparator: "EQUALS", value: #"{"value": "Mei Chen", "type": "STRING"}"#,
            matching: [#"{"f": "Mei Chen"}"#, #"{"f": "MEI chen"}"#],
            others: [#"{"f": "Mei"}"#, #"{"f": ["Mei Chen"]}"#, #"{"f": ""}"#, missing]),
        Case(
            comparator: "EQUALS", value: #"{"value": "Élan"}"#,
            matching: [#"{"f": "élan"}"#, "{\"f\": \"E\u{301}LAN\"}"], others: [#"{"f": "elan"}"#]),
        Case(
            comparator: "EQUALS", value: #"{"value": ""}"#, matching: [#"{"f": ""}"#],
            others: [missing, #"{"f": " "}"#]),
        Case(
            comparator: "EQUALS", value: #"{"value": 1500, "type": "TIMESTAMP"}"#,
            matching: [#"{"f": {"value": 1500, "type": "TIMESTAMP"}}"#, #"{"f": 1500}"#], others: [#"{"f": "1500"}"#]),
        Case(
            comparator: "EQUALS", value: #"{"value": {"recordName": "A"}, "type": "REFERENCE"}"#,
            matching: [#"{"f": {"recordName": "A", "action": "NONE"}}"#],
            others: [
                #"{"f": {"recordName": "a"}}"#, #"{"f": "A"}"#,
                #"{"f": {"recordName": "A", "zoneID": {"zoneName": "z"}}}"#,
            ]),
        Case(
            comparator: "EQUALS",
            value: #"{"value": {"recordName": "A", "zoneID": {"zoneName": "z", "ownerRecordName": "_o"}}}"#,
            matching: [#"{"f": {"value": {"recordName": "A", "zoneID": {"zoneName": "z"}}, "type": "REFERENCE"}}"#],
            others: [
                #"{"f": {"recordName": "A", "zoneID": {"zoneName": "y"}}}"#, #"{"f": {"recordName": "A"}}"#,
                #"{"f": {"recordName": "z", "zoneID": {"zoneName": "A"}}}"#,
            ]),
        Case(
            comparator: "EQUALS", value: #"{"value": {"recordName": "A", "zoneID": {"zoneName": "_defaultZone"}}}"#,
            matching: [
                #"{"f": {"recordName": "A"}}"#, #"{"f": {"recordName": "A", "zoneID": null}}"#,
                #"{"f": {"recordName": "A", "zoneID": {"zoneName": "_defaultZone"}}}"#,
            ],
            others: [#"{"f": {"recordName": "A", "zoneID": {"zoneName": "z"}}}"#]),
        Case(
            comparator: "LIST_CONTAINS_ANY",
            value: #"{"value": [{"recordName": "A", "zoneID": {"zoneName": "z"}}], "type": "REFERENCE_LIST"}"#,
            matching: [#"{"f": ["A", {"recordName": "A", "zoneID": {"zoneName": "z"}}]}"#],
            others: [#"{"f": [{"recordName": "A", "zoneID": {"zoneName": "y"}}, {"recordName": "A"}]}"#]),
        Case(
            comparator: "NOT_IN",
            value: #"{"value": [{"recordName": "A", "zoneID": {"zoneName": "z"}}, {"recordName": "B"}]}"#,
            matching: [#"{"f": {"recordName": "A"}}"#, missing],
            others: [#"{"f": {"recordName": "A", "zoneID": {"zoneName": "z"}}}"#, #"{"f": {"recordName": "B"}}"#]),
        Case(
            comparator: "EQUALS", value: #"{"value": "AQI=", "type": "BYTES"}"#,
            matching: [#"{"f": {"value": "AQI=", "type": "BYTES"}}"#], others: [#"{"f": "AQI="}"#]),
        Case(
            comparator: "NOT_EQUALS", value: #"{"value": "a"}"#, matching: [#"{"f": "b"}"#, #"{"f": 1}"#, missing],
            others: [#"{"f": "A"}"#]),
        Case(
            comparator: "LESS_THAN", value: #"{"value": 5}"#, matching: [#"{"f": 4.5}"#],
            others: [#"{"f": 5}"#, missing]),
        Case(
            comparator: "LESS_THAN_OR_EQUALS", value: #"{"value": "b"}"#, matching: [#"{"f": "b"}"#, #"{"f": "B"}"#],
            others: [#"{"f": "ba"}"#, #"{"f": 1}"#]),
        Case(
            comparator: "GREATER_THAN", value: #"{"value": 5, "type": "DOUBLE"}"#, matching: [#"{"f": 5.1}"#],
            others: [#"{"f": 5}"#, #"{"f": "6"}"#, missing]),
        Case(
            comparator: "GREATER_THAN_OR_EQUALS", value: #"{"value": 9007199254740993, "type": "INT64"}"#,
            matching: [#"{"f": 9007199254740993}"#], others: [#"{"f": 9007199254740992}"#]),
        Case(
            comparator: "IN", value: #"{"value": ["a", "b"], "type": "STRING_LIST"}"#, matching: [#"{"f": "a"}"#],
            others: [#"{"f": "A"}"#, #"{"f": ["a"]}"#, missing]),
        Case(comparator: "IN", value: #"{"value": []}"#, matching: [], others: [#"{"f": "a"}"#, missing]),
        Case(
            comparator: "NOT_IN", value: #"{"value": ["a", "b"], "type": "STRING"}"#,
            matching: [#"{"f": "A"}"#, #"{"f": 1}"#, missing], others: [#"{"f": "b"}"#]),
        Case(
            comparator: "BEGINS_WITH", value: #"{"value": "Me"}"#, matching: [#"{"f": "Mei"}"#, #"{"f": "Me"}"#],
            others: [#"{"f": "mei"}"#, #"{"f": "M"}"#, #"{"f": ["Mei"]}"#, missing]),
        Case(
            comparator: "NOT_BEGINS_WITH", value: #"{"value": "Me"}"#,
            matching: [#"{"f": "mei"}"#, missing, #"{"f": 1}"#], others: [#"{"f": "Mei"}"#]),
        Case(
            comparator: "LIST_CONTAINS", value: #"{"value": "a"}"#, matching: [#"{"f": ["b", "a"]}"#],
            others: [#"{"f": ["A"]}"#, #"{"f": "a"}"#, #"{"f": []}"#, missing]),
        Case(
            comparator: "NOT_LIST_CONTAINS", value: #"{"value": "a"}"#,
            matching: [#"{"f": []}"#, missing, #"{"f": "a"}"#],
            others: [#"{"f": ["a"]}"#]),
        Case(
            comparator: "LIST_CONTAINS_ANY", value: #"{"value": ["a", 2]}"#,
            matching: [#"{"f": [2]}"#, #"{"f": ["a"]}"#],
            others: [#"{"f": ["b"]}"#, missing]),
        Case(
            comparator: "NOT_LIST_CONTAINS_ANY", value: #"{"value": ["a", 2]}"#, matching: [#"{"f": ["b"]}"#, missing],
            others: [#"{"f": [2, 3]}"#]),
        Case(
            comparator: "LIST_CONTAINS_ALL", value: #"{"value": ["a", 2]}"#, matching: [#"{"f": [2, "x", "a"]}"#],
            others: [#"{"f": ["a"]}"#, missing]),
        Case(
            comparator: "NOT_LIST_CONTAINS_ALL", value: #"{"value": ["a", 2]}"#, matching: [#"{"f": ["a"]}"#, missing],
            others: [#"{"f": [2, "a"]}"#]),
        Case(
            comparator: "LIST_MEMBER_BEGINS_WITH", value: #"{"value": "Me"}"#, matching: [#"{"f": ["x", "Mei"]}"#],
            others: [#"{"f": ["mei"]}"#, #"{"f": "Mei"}"#, missing]),
        Case(
            comparator: "NOT_LIST_MEMBER_BEGINS_WITH", value: #"{"value": "Me"}"#,
            matching: [#"{"f": ["mei"]}"#, missing],
            others: [#"{"f": ["Mei"]}"#]),
        Case(
            comparator: "CONTAINS_ANY_TOKENS", value: #"{"value": "The bob SMÍTH"}"#,
            matching: [#"{"f": "Say, Bob!"}"#, #"{"f": "smith"}"#, #"{"f": ["x", "Smith"]}"#],
            others: [#"{"f": "the"}"#, #"{"f": "bobby"}"#, missing]),
        Case(
            comparator: "CONTAINS_ALL_TOKENS", value: #"{"value": "bob smith"}"#, matching: [#"{"f": "Smith, Bob"}"#],
            others: [#"{"f": "Bob"}"#, missing]),
        Case(
            comparator: "NEAR", value: #"{"value": {"latitude": 0, "longitude": 0}, "type": "LOCATION"}"#,
            matching: [#"{"f": {"latitude": 0, "longitude": 0.0089}}"#],
            others: [#"{"f": {"latitude": 0, "longitude": 0.0091}}"#, #"{"f": 0}"#, missing],
            rest: #", "distance": 1000"#),
    ]

    @Test("Each comparator means what CloudKit means by it", arguments: cases)
    func comparators(_ example: Case) throws {
        let predicate = try JSONPredicates.filterBy(
            """
            [{"comparator": "\(example.comparator)", "fieldName": "f", "fieldValue": \(example.value)\(example.rest)}]
            """)
        for record in example.matching {
            #expect(predicate.matches(try JSONPredicates.record(record)), "\(predicate) for \(record)")
        }
        for record in example.others {
            #expect(!predicate.matches(try JSONPredicates.record(record)), "\(predicate) for \(record)")
        }
    }

    @Test("All 21 comparators are known")
    func knowsAll() {
        #expect(Set(Self.cases.map(\.comparator)).count == 21)
    }

    @Test("Filters must all hold; none at all is every record; words are searched for in all fields")
    func combinations() throws {
        #expect(try JSONPredicates.filterBy("[]") == .always)
        #expect(try JSONPredicates.filterBy("null") == .always)
        let both = try JSONPredicates.filterBy(
            #"""
            [{"comparator": "EQUALS", "fieldName": "artist", "fieldValue": {"value": "Mei Chen", "type": "STRING"}},
             {"comparator": "LESS_THAN_OR_EQUALS", "fieldName": "price", "fieldValue": {"value": 20, "type": "INT64"}}]
            """#)
        #expect(try both == Predicate(parsing: "artist = 'Mei Chen' AND price <= 20"))
        let words = try JSONPredicates.filterBy(
            #"[{"comparator": "CONTAINS_ALL_TOKENS", "fieldValue": {"value": "bob smith"}}]"#)
        #expect(try words == Predicate(parsing: "self CONTAINS 'bob' AND self CONTAINS 'smith'"))
        let record = try JSONPredicates.record(#"{"first": "Bob", "author": {"last": "Smith"}}"#)
        #expect(words.matches(record))
        let alias = try JSONPredicates.filterBy(
            #"[{"comparator": "LIST_NOT_CONTAINS", "fieldName": "f", "fieldValue": "a"}]"#)
        #expect(try alias == Predicate(parsing: "NOT f CONTAINS 'a'"))
    }

    @Test(
        "A fault names its path, what was found and what was expected",
        arguments: [
            ("{}", "filterBy", "found an empty object; expected an array of filters"),
            ("[1]", "filterBy[0]", "found an integer; expected a filter"),
            ("[{}]", "filterBy[0].comparator", "it is missing; expected one of EQUALS"),
            (#"[{"comparator": 1}]"#, "filterBy[0].comparator", "found an integer; expected one of"),
            (#"[{"comparator": "LIKE"}]"#, "filterBy[0].comparator", "found \"LIKE\"; expected one of EQUALS"),
            (#"[{"comparator": "EQUALS"}]"#, "filterBy[0].fieldName", "it is missing; expected the name of a field"),
            (#"[{"comparator": "EQUALS", "fieldName": 1}]"#, "filterBy[0].fieldName", "found an integer"),
            (#"[{"comparator": "EQUALS", "fieldName": "a..b"}]"#, "filterBy[0].fieldName", "\"a..b\" is no path"),
            (#"[{"comparator": "EQUALS", "fieldName": "a"}]"#, "filterBy[0].fieldValue", "it is missing"),
            (
                #"[{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": null}}]"#,
                "filterBy[0].fieldValue.value", "found null"
            ),
            (
                #"[{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": "x", "type": "INT64"}}]"#,
                "filterBy[0].fieldValue.value", "found a string of 1 byte; expected a whole number"
            ),
            (
                #"[{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": "x", "type": "TEXT"}}]"#,
                "filterBy[0].fieldValue.type", "found \"TEXT\"; expected one of STRING"
            ),
            (
                #"[{"comparator": "IN", "fieldName": "a", "fieldValue": {"value": [1, "x"], "type": "INT64_LIST"}}]"#,
                "filterBy[0].fieldValue.value[1]", "found a string of 1 byte; expected a whole number"
            ),
            (
                #"[{"comparator": "IN", "fieldName": "a", "fieldValue": {"value": [1, null]}}]"#,
                "filterBy[0].fieldValue.value", "found an array; expected an array of values"
            ),
            (
                #"[{"comparator": "IN", "fieldName": "a", "fieldValue": {"value": 1}}]"#,
                "filterBy[0].fieldValue.value", "found an integer; expected an array, with which IN compares"
            ),
            (
                #"[{"comparator": "LESS_THAN", "fieldName": "a", "fieldValue": {"value": [1]}}]"#,
                "filterBy[0].fieldValue", "LESS_THAN compares with a number, a date or a text"
            ),
            (
                #"[{"comparator": "BEGINS_WITH", "fieldName": "a", "fieldValue": {"value": 1}}]"#,
                "filterBy[0].fieldValue", "BEGINS_WITH compares with a string"
            ),
            (
                #"[{"comparator": "NEAR", "fieldName": "a", "fieldValue": {"latitude": 1, "longitude": 1}}]"#,
                "filterBy[0].distance", "it is missing; expected a number of metres"
            ),
            (
                #"[{"comparator": "EQUALS", "fieldName": "a", "fieldValue": {"value": 1}, "distance": 5}]"#,
                "filterBy[0].distance", "only the comparator NEAR has a distance"
            ),
            (
                #"[{"comparator": "CONTAINS_ANY_TOKENS", "fieldValue": {"value": "the"}}]"#,
                "filterBy[0].fieldValue.value", "there is no word to search for"
            ),
            (
                #"[{"comparator": "LIST_CONTAINS", "fieldName": "a", "fieldValue": "\#(long)"}]"#,
                "filterBy[0].fieldValue", "the text takes 1025 bytes"
            ),
        ])
    func faults(json: String, path: String, message: String) {
        let fault = JSONPredicates.fault { try JSONPredicates.filterBy(json) }
        #expect(fault?.location == .member(path), "\(String(describing: fault))")
        #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
    }

    @Test(
        "What a value says beyond what is understood is refused by its name",
        arguments: [
            (#"{"recordName": "x", "colour": 1}"#, "", "found the unknown member \"colour\"; expected recordName"),
            (#"{"recordName": "x", "action": 1}"#, ".action", "found an integer; expected a string"),
            (#"{"recordName": "x", "zoneID": "z"}"#, ".zoneID", "found a string of 1 byte; expected an object with"),
            (#"{"recordName": "x", "zoneID": {}}"#, ".zoneID.zoneName", "found an object without one; expected a"),
            (#"{"recordName": "x", "zoneID": {"zoneName": 1}}"#, ".zoneID.zoneName", "found an integer"),
            (
                #"{"recordName": "x", "zoneID": {"zoneName": "z", "zone": "y"}}"#, ".zoneID",
                "found the unknown member \"zone\"; expected zoneName"
            ),
            (
                #"{"recordName": "x", "zoneID": {"zoneName": "z", "ownerRecordName": 1}}"#, ".zoneID.ownerRecordName",
                "found an integer; expected a string"
            ),
            (#"{"latitude": 1, "longitude": 2, "name": "Berlin"}"#, "", "found the unknown member \"name\""),
            (#"{"latitude": 1, "longitude": 2, "course": "N"}"#, ".course", "found a string of 1 byte; expected a"),
            (#"{"value": {"recordName": "x", "colour": 1}}"#, ".value", "found the unknown member \"colour\""),
        ])
    func unknownMembersOfValues(value: String, path: String, message: String) {
        for (list, rest) in [(value, ""), ("[\(value)]", "[0]")] {
            for (comparator, isList) in [("EQUALS", false), ("LIST_CONTAINS_ANY", true)] where isList == !rest.isEmpty {
                let fault = JSONPredicates.fault {
                    try JSONPredicates.filterBy(
                        #"[{"comparator": "\#(comparator)", "fieldName": "a", "fieldValue": {"value": \#(list)}}]"#)
                }
                #expect(
                    fault?.location == .member("filterBy[0].fieldValue.value\(rest)\(path)"),
                    "\(String(describing: fault))")
                #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
            }
        }
    }

    @Test("No filters crash", arguments: [UInt64.random(in: 0...UInt64.max)])
    func survivesAnyJSON(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let leaves =
            [
                "1", "-0.0", "1e300", "\"x\"", "null", "true", "[]", "{}", "\"STRING\"", "\"INT64_LIST\"",
                "\"the bob\"",
                #"{"latitude": 1, "longitude": 2}"#, #"{"value": ["a"], "type": "STRING"}"#,
            ] + Self.cases.map { "\"\($0.comparator)\"" }
        let words = ["comparator", "fieldName", "fieldValue", "value", "type", "distance", "recordName"]
        let parser = JSONParser()
        var taken = 0
        for _ in 0..<5000 {
            let comparator = Self.cases.randomElement(using: &generator)?.comparator ?? "IN"
            let value = JSONPredicates.random(words, leaves, using: &generator)
            let json =
                Bool.random(using: &generator)
                ? "[\(value)]" : #"[{"comparator": "\#(comparator)", "fieldName": "a", "fieldValue": \#(value)}]"#
            guard let predicate = try? Predicate(filterBy: try parser.parse(json)) else { continue }
            taken += 1
            guard try Predicate(parsing: predicate.description) == predicate else {
                Issue.record("seed \(seed): \(json)")
                return
            }
        }
        #expect(taken > 50, "seed \(seed)")
    }
}
