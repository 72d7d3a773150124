import JSON
import Predicates
import PushTestKit
import Testing

@Suite("AppSync's filters")
struct AppSyncFilterTests {
    private func rule(_ comparison: String, _ value: String) throws -> Predicate {
        try JSONPredicates.filterGroup(
            #"{"filterGroup": [{"filters": [{"fieldName": "f", "operator": "\#(comparison)", "value": \#(value)}]}]}"#)
    }

    @Test(
        "Each operator means what AppSync means by it: everything counts, case too",
        arguments: [
            ("eq", #""Red""#, [#"{"f": "Red"}"#], [#"{"f": "red"}"#, #"{"f": ["Red"]}"#, "{}"]),
            ("eq", "7", [#"{"f": 7}"#, #"{"f": 7.0}"#], [#"{"f": "7"}"#, "{}"]),
            ("eq", "true", [#"{"f": true}"#], [#"{"f": false}"#, "{}"]),
            ("ne", #""Red""#, [#"{"f": "red"}"#, "{}", #"{"f": 1}"#], [#"{"f": "Red"}"#]),
            ("le", "7", [#"{"f": 7}"#, #"{"f": -1}"#], [#"{"f": 7.1}"#, "{}"]),
            ("lt", "7", [#"{"f": 6.9}"#], [#"{"f": 7}"#]),
            ("ge", #""b""#, [#"{"f": "b"}"#, #"{"f": "ba"}"#], [#"{"f": "B"}"#, #"{"f": 9}"#]),
            ("gt", "7", [#"{"f": 8}"#], [#"{"f": 7}"#, #"{"f": "8"}"#]),
            ("between", "[1, 5]", [#"{"f": 1}"#, #"{"f": 5}"#], [#"{"f": 5.1}"#, "{}"]),
            ("between", "[5, 1]", [], [#"{"f": 3}"#, "{}"]),
            (
                "contains", #""ed""#, [#"{"f": "Red"}"#, #"{"f": ["x", "ed"]}"#],
                [#"{"f": "RED"}"#, #"{"f": ["Red"]}"#, "{}"]
            ),
            ("contains", "7", [#"{"f": [7]}"#], [#"{"f": "7"}"#, #"{"f": 7}"#]),
            (
                "notContains", #""ed""#, [#"{"f": "RED"}"#, #"{"f": ["Red"]}"#, "{}"],
                [#"{"f": "Red"}"#, #"{"f": ["ed"]}"#]
            ),
            ("beginsWith", #""Re""#, [#"{"f": "Red"}"#], [#"{"f": "red"}"#, "{}"]),
            ("in", #"["a", 2]"#, [#"{"f": "a"}"#, #"{"f": 2}"#], [#"{"f": "A"}"#, "{}"]),
            ("notIn", #"["a", 2]"#, [#"{"f": "A"}"#, "{}"], [#"{"f": 2}"#]),
            ("containsAny", #"["a", "b"]"#, [#"{"f": ["b", "c"]}"#], [#"{"f": ["c"]}"#, #"{"f": "a"}"#, "{}"]),
        ] as [(String, String, [String], [String])])
    func operators(comparison: String, value: String, matching: [String], others: [String]) throws {
        let predicate = try rule(comparison, value)
        for record in matching {
            #expect(predicate.matches(try JSONPredicates.record(record)), "\(predicate) for \(record)")
        }
        for record in others {
            #expect(!predicate.matches(try JSONPredicates.record(record)), "\(predicate) for \(record)")
        }
        let input = try JSONPredicates.filterInput(#"{"f": {"\#(comparison)": \#(value)}}"#)
        #expect(input == predicate, "both ways of writing it mean the same")
    }

    @Test("Rules of a filter must all hold, and one filter of a group; paths reach into objects")
    func groups() throws {
        let group = try JSONPredicates.filterGroup(
            #"""
            [{"filters": [{"fieldName": "severity", "operator": "ge", "value": 7},
                          {"fieldName": "team.name", "operator": "eq", "value": "red"}]},
             {"filters": [{"fieldName": "urgent", "operator": "eq", "value": true}]}]
            """#)
        #expect(try group == Predicate(parsing: "severity >= 7 AND team.name =[n] 'red' OR urgent = TRUE"))
    }

    @Test(
        "In a filter input fields are joined by AND, and operators of one field by OR",
        arguments: [
            ("{}", "TRUEPREDICATE"),
            ("null", "TRUEPREDICATE"),
            (#"{"a": {"eq": 1}, "b": {"eq": 2}}"#, "a = 1 AND b = 2"),
            (#"{"a": {"lt": 1, "gt": 5}}"#, "a < 1 OR a > 5"),
            (#"{"a": {"lt": 1, "gt": 5}, "b": {"eq": 2}}"#, "(a < 1 OR a > 5) AND b = 2"),
            (#"{"and": [{"a": {"ge": 1}}, {"a": {"lt": 5}}]}"#, "a >= 1 AND a < 5"),
            (#"{"a": {"eq": 1}, "or": [{"b": {"eq": 2}}, {"c": {"eq": 3}}]}"#, "a = 1 AND (b = 2 OR c = 3)"),
            (#"{"or": [{"and": [{"a": {"eq": 1}}, {"b": {"eq": 2}}]}, {"c": {"eq": 3}}]}"#, "a = 1 AND b = 2 OR c = 3"),
            (#"{"and": {"a": {"eq": 1}}}"#, "a = 1"),
            (#"{"_deleted": {"ne": true}, "owner.id": {"eq": "x"}}"#, "_deleted != TRUE AND owner.id =[n] 'x'"),
        ])
    func inputs(json: String, text: String) throws {
        #expect(try JSONPredicates.filterInput(json) == Predicate(parsing: text))
    }

    @Test("Limits are those of AppSync, and not one more is taken")
    func limits() throws {
        func values(_ count: Int) -> String { "[\((0..<count).map(String.init).joined(separator: ","))]" }
        func rules(_ count: Int) -> String {
            let rules = (0..<count).map { #"{"fieldName": "f\#($0)", "operator": "eq", "value": 1}"# }
            return #"{"filters": [\#(rules.joined(separator: ","))]}"#
        }
        func code(_ body: () throws -> Predicate) -> PredicateError.Code? { JSONPredicates.fault(body)?.code }
        #expect(code { try rule("in", values(5)) } == nil)
        #expect(code { try rule("in", values(6)) } == .tooLarge)
        #expect(code { try rule("notIn", values(6)) } == .tooLarge)
        #expect(code { try rule("containsAny", values(20)) } == nil)
        #expect(code { try rule("containsAny", values(21)) } == .tooLarge)
        #expect(code { try JSONPredicates.filterGroup("[\(rules(5))]") } == nil)
        #expect(code { try JSONPredicates.filterGroup("[\(rules(6))]") } == .tooLarge)
        func group(_ count: Int) -> String { (0..<count).map { _ in rules(1) }.joined(separator: ",") }
        #expect(code { try JSONPredicates.filterGroup("[\(group(10))]") } == nil)
        #expect(code { try JSONPredicates.filterGroup("[\(group(11))]") } == .tooLarge)
        #expect(code { try JSONPredicates.filterInput(#"{"a.b.c.d.e": {"eq": 1}}"#) } == nil)
        #expect(code { try JSONPredicates.filterInput(#"{"a.b.c.d.e.f": {"eq": 1}}"#) } == .tooLarge)
        let deep = String(repeating: #"{"and": ["#, count: 20) + "{}" + String(repeating: "]}", count: 20)
        #expect(code { try JSONPredicates.filterInput(deep) } == .tooLarge)
    }

    @Test(
        "A fault of a group names its path",
        arguments: [
            ("{}", "filterGroup", "found an empty object; expected an array"),
            ("[]", "filterGroup", "found an empty array; expected an array"),
            (#"{"filterGroup": 1}"#, "filterGroup.filterGroup", "found an integer"),
            ("[{}]", "filterGroup[0].filters", "it is missing"),
            (#"[{"filters": []}]"#, "filterGroup[0].filters", "found an empty array"),
            (#"[{"filters": [{"operator": "eq"}]}]"#, "filterGroup[0].filters[0].fieldName", "it is missing"),
            (
                #"[{"filters": [{"fieldName": "a"}]}]"#, "filterGroup[0].filters[0].operator",
                "it is missing; expected one of"
            ),
            (
                #"[{"filters": [{"fieldName": "a", "operator": "gte", "value": 1}]}]"#,
                "filterGroup[0].filters[0].operator", "found \"gte\"; expected one of eq, ne"
            ),
            (
                #"[{"filters": [{"fieldName": "a", "operator": "lt", "value": true}]}]"#,
                "filterGroup[0].filters[0].value", "found true; expected a number or a string"
            ),
            (
                #"[{"filters": [{"fieldName": "a", "operator": "in", "value": [1, {}]}]}]"#,
                "filterGroup[0].filters[0].value[1]", "found an empty object; expected a string, a number"
            ),
            (
                #"[{"filters": [{"fieldName": "a", "operator": "between", "value": [1]}]}]"#,
                "filterGroup[0].filters[0].value", "found an array; expected an array of two"
            ),
        ])
    func groupFaults(json: String, path: String, message: String) {
        let fault = JSONPredicates.fault { try JSONPredicates.filterGroup(json) }
        #expect(fault?.location == .member(path), "\(String(describing: fault))")
        #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
    }

    @Test(
        "A fault of an input names its path",
        arguments: [
            ("[]", "filter", "found an empty array; expected an object"),
            (#"{"a": 1}"#, "filter.a", "found an integer; expected an object of operators"),
            (#"{"or": []}"#, "filter.or", "found an empty array"),
            (#"{"or": [{"team": {"is": 1}}]}"#, "filter.or[0].team", "found the operator \"is\"; expected one of eq"),
            (
                #"{"and": [{"a": {"eq": 1}}, {"team": {"eq": [1]}}]}"#, "filter.and[1].team.eq",
                "found an array; expected a string"
            ),
            (#"{"": {"eq": 1}}"#, "filter", "found an empty string; expected the name of a field"),
            (#"{"a": {"eq": null}}"#, "filter.a.eq", "found null; expected a string, a number"),
            (#"{"a": {"eq": 1, "in": null}}"#, "filter.a.in", "found null; expected an array"),
            (#"{"a": {}}"#, "filter.a", "found an empty object; expected an object of operators"),
            (#"{"a": null}"#, "filter.a", "found null; expected an object of operators"),
            (#"{"a": {"eq": 1}, "or": null}"#, "filter.or", "found null; expected an object of fields"),
            (#"{"or": [{"a": {"eq": 1}}, {}]}"#, "filter.or[1]", "found an empty object; expected an object of fields"),
            (#"{"and": [null]}"#, "filter.and[0]", "found null; expected an object of fields"),
        ])
    func inputFaults(json: String, path: String, message: String) {
        let fault = JSONPredicates.fault { try JSONPredicates.filterInput(json) }
        #expect(fault?.location == .member(path), "\(String(describing: fault))")
        #expect(fault?.message.hasPrefix(message) == true, "\(String(describing: fault))")
    }

    @Test("No filter crashes", arguments: [UInt64.random(in: 0...UInt64.max)])
    func survivesAnyJSON(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let words = ["filterGroup", "filters", "fieldName", "operator", "value", "and", "or", "a", "b.c", "eq", "in"]
        let leaves = [
            "1", "\"x\"", "null", "true", "[]", "{}", "[1, 2]", #"{"eq": 1}"#, #"{"ne": "x", "lt": 3}"#, "\"eq\"",
        ]
        let parser = JSONParser()
        for _ in 0..<5000 {
            let json = JSONPredicates.random(words, leaves, using: &generator)
            for predicate in [
                try? Predicate(filterGroup: try parser.parse(json)),
                try? Predicate(filterInput: try parser.parse(json)),
            ] {
                guard let predicate else { continue }
                guard try Predicate(parsing: predicate.description) == predicate else {
                    Issue.record("seed \(seed): \(json)")
                    return
                }
            }
        }
    }
}
