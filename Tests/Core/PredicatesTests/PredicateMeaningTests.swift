import Geography
import Predicates
import PushTestKit
import Testing

@Suite("Predicates: what their texts mean")
struct PredicateMeaningTests {
    /// A predicate, records that satisfy it, and records that do not.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let matching: [String]
        let others: [String]
        var testDescription: String { text }

        init(_ text: String, _ matching: [String], _ others: [String]) {
            self.text = text
            self.matching = matching
            self.others = others
        }
    }

    private static let missing = "{}"

    private static let cases: [Case] = [
        Case("f = 'Straße'", [#"{"f": "STRASSE"}"#, #"{"f": "straße"}"#], [#"{"f": "Strase"}"#, missing]),
        Case("f =[n] 'Bob'", [#"{"f": "Bob"}"#], [#"{"f": "bob"}"#, missing]),
        Case("f != 'Bob'", [#"{"f": "Ann"}"#, missing, #"{"f": 1}"#], [#"{"f": "BOB"}"#]),
        Case("f = ''", [#"{"f": ""}"#], [missing, #"{"f": null}"#]),
        Case("NOT f = ''", [missing, #"{"f": "x"}"#], [#"{"f": ""}"#]),
        Case("f = {1, 'a'}", [#"{"f": [1, "A"]}"#], [#"{"f": ["a", 1]}"#, #"{"f": 1}"#]),
        Case("f = 1", [#"{"f": 1.0}"#, #"{"f": true}"#], [#"{"f": "1"}"#, #"{"f": 1.5}"#]),
        Case("f < 'b'", [#"{"f": "a"}"#, #"{"f": "B"}"#, #"{"f": ""}"#], [#"{"f": "b"}"#, #"{"f": 1}"#, missing]),
        Case("f BETWEEN {1, 5}", [#"{"f": 1}"#, #"{"f": 5}"#], [#"{"f": 0.9}"#, #"{"f": 5.1}"#, missing]),
        Case("NOT f BETWEEN {1, 5}", [#"{"f": 0.9}"#, missing, #"{"f": "3"}"#], [#"{"f": 1}"#]),
        Case("f IN {'a', 2}", [#"{"f": "a"}"#, #"{"f": 2}"#], [#"{"f": "A"}"#, #"{"f": ["a"]}"#, missing]),
        Case("f IN[c] {'a', 'b'}", [#"{"f": "A"}"#], [#"{"f": "c"}"#]),
        Case("f BEGINSWITH 'Me'", [#"{"f": "Mei"}"#], [#"{"f": "mei"}"#, #"{"f": ["Mei"]}"#, missing]),
        Case("f BEGINSWITH ''", [#"{"f": ""}"#, #"{"f": "x"}"#], [#"{"f": 1}"#, missing]),
        Case("f CONTAINSTEXT 'ei'", [#"{"f": "Mei"}"#], [#"{"f": "EI"}"#, #"{"f": ["ei"]}"#, missing]),
        Case("f CONTAINS 'a'", [#"{"f": ["b", "a"]}"#], [#"{"f": ["A"]}"#, #"{"f": "a"}"#, #"{"f": []}"#, missing]),
        Case("NOT f CONTAINS 'a'", [#"{"f": ["b"]}"#, #"{"f": []}"#, missing], [#"{"f": ["a"]}"#]),
        Case("ANY f = 'a'", [#"{"f": ["A"]}"#], [#"{"f": ["b"]}"#, #"{"f": "a"}"#]),
        Case("SOME f IN {1, 2}", [#"{"f": [3, 2]}"#], [#"{"f": 2}"#, #"{"f": []}"#]),
        Case("ANY f BEGINSWITH 'Me'", [#"{"f": ["x", "Mei"]}"#], [#"{"f": ["mei"]}"#, #"{"f": "Mei"}"#]),
        Case(
            "self CONTAINS 'Élan the smith'",
            [#"{"x": "elan!"}"#, #"{"a": {"b": "Mr. SMITH"}}"#, #"{"x": ["no", "smith"]}"#],
            [#"{"x": "the"}"#, #"{"x": "smithy"}"#, missing, #"{"x": {"recordName": "smith"}}"#]),
        Case("NOT self CONTAINS 'bob'", [missing, #"{"x": "bobby"}"#], [#"{"x": "Bob"}"#]),
        Case("f TOKENMATCHES 'bob'", [#"{"f": "Bob's"}"#], [#"{"x": "bob"}"#]),
        Case(
            "a.name = 'mei'", [#"{"a": {"name": "Mei"}}"#, #"{"a.name": "mei"}"#], [#"{"name": "mei"}"#]),
        Case(
            "f > date('2026-01-31T12:00:00Z')",
            [#"{"f": {"value": 1769860800001, "type": "TIMESTAMP"}}"#, #"{"f": 1769860800001}"#],
            [#"{"f": {"value": 1769860800000, "type": "TIMESTAMP"}}"#, #"{"f": "2027-01-31T12:00:00Z"}"#]),
        Case("f = reference('A')", [#"{"f": {"recordName": "A"}}"#], [#"{"f": "A"}"#, #"{"f": {"recordName": "a"}}"#]),
        Case(
            "f = reference('A', 'z')", [#"{"f": {"recordName": "A", "zoneID": {"zoneName": "z"}}}"#],
            [#"{"f": {"recordName": "A"}}"#, #"{"f": {"recordName": "A", "zoneID": {"zoneName": "y"}}}"#]),
        Case("TRUEPREDICATE", [missing], []),
        Case("FALSEPREDICATE", [], [missing]),
        Case("NOT TRUEPREDICATE OR f = 1", [#"{"f": 1}"#], [missing]),
    ]

    @Test("Each operator takes the records that it should, and no others", arguments: cases)
    func meaning(_ example: Case) throws {
        let predicate = try Predicate(parsing: example.text)
        let negated = try Predicate(parsing: "NOT (\(example.text))")
        for record in example.matching {
            let record = try JSONPredicates.record(record)
            #expect(predicate.matches(record) && !negated.matches(record), "\(record)")
        }
        for record in example.others {
            let record = try JSONPredicates.record(record)
            #expect(!predicate.matches(record) && negated.matches(record), "\(record)")
        }
    }

    @Test("The circle itself is outside, and with <= inside")
    func distanceAtTheBorder() throws {
        let centre = try #require(Location(latitude: 52.52, longitude: 13.405))
        let place = try #require(Location(latitude: 52.53, longitude: 13.5))
        let metres = centre.distanceMetres(to: place)
        let record = RecordFields([("f", .location(place))])
        func matches(_ comparison: String, _ metres: Double) throws -> Bool {
            let text = "distanceToLocation:fromLocation:(f, {52.52, 13.405}) \(comparison) \(metres)"
            return try Predicate(parsing: text).matches(record)
        }
        #expect(try !matches("<", metres))
        #expect(try matches("<=", metres))
        #expect(try matches("<", metres.nextUp))
        #expect(try !matches("<=", metres.nextDown))
        #expect(try !matches("<", 0))
    }
}
