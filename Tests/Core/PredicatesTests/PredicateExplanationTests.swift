import JSON
import Predicates
import PushTestKit
import Testing

@Suite("Predicates: why they match")
struct PredicateExplanationTests {
    private func explanation(_ text: String, _ record: String) throws -> PredicateExplanation {
        PredicateExplanation(of: try Predicate(parsing: text), for: try JSONPredicates.record(record))
    }

    @Test("Each clause says whether it holds and what the record has")
    func forPeople() throws {
        let record = #"{"artist": "Mei Chen", "price": 25}"#
        #expect(
            try explanation("artist = 'Mei Chen' AND price <= 20", record).description == """
                The record does not match.
                  yes  artist = "mei chen": the record has "Mei Chen"
                  no   price <= 20: the record has 25
                """)
        #expect(
            try explanation("artist = 'Mei Chen' AND price <= 20 OR NOT tags CONTAINS 'x'", record).description == """
                The record matches.
                  alternative 1 of 2: no
                    yes  artist = "mei chen": the record has "Mei Chen"
                    no   price <= 20: the record has 25
                  alternative 2 of 2: yes
                    yes  NOT tags CONTAINS "x": the record has no tags
                """)
        #expect(
            try explanation("FALSEPREDICATE", record).description == """
                The record does not match.
                  no   FALSEPREDICATE: no record does
                """)
        #expect(
            try explanation("TRUEPREDICATE", record).description == """
                The record matches.
                  yes  TRUEPREDICATE: every record does
                """)
    }

    @Test(
        "What a person might overlook is said",
        arguments: [
            ("a =[n] 'Red'", #"{"a": "red"}"#, #"the record has "red", and upper and lower case count"#),
            ("a > 5", #"{"a": "9"}"#, #"the record has "9", which cannot be ordered against 5"#),
            ("a BEGINSWITH 'x'", #"{"a": ["x"]}"#, #"the record has {"x"}, which is no text"#),
            ("a CONTAINS 'x'", #"{"a": "x"}"#, #"the record has "x", which is no list"#),
            ("a TOKENMATCHES 'bob smith'", #"{"a": "Bob!"}"#, #"the record has "Bob!", with "bob" in it"#),
            ("a TOKENMATCHES 'bob smith'", #"{"a": "x"}"#, #"the record has "x", without such a word"#),
            ("self CONTAINS 'bob'", #"{"a": "x", "b": "Bob"}"#, #"b is "Bob""#),
            ("self CONTAINS 'bob'", #"{"a": "x"}"#, "no field of the record has such a word"),
            (
                "distanceToLocation:fromLocation:(a, {0, 0}) < 5000", #"{"a": {"latitude": 0, "longitude": 1}}"#,
                "the record has location(0, 1), which is 111195.08 metres away"
            ),
            ("`in` = 1", "{}", "the record has no `in`"),
        ])
    func notes(text: String, record: String, reason: String) throws {
        #expect(try explanation(text, record).alternatives.first?.clauses.first?.reason == reason)
    }

    @Test("As JSON it says the same")
    func asJSON() throws {
        var writer = JSONWriter()
        try explanation("price <= 20", #"{"price": 25}"#).write(to: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"matches":false,"predicate":"price <= 20","alternatives":[{"matches":false,"clauses":"#
                + #"[{"clause":"price <= 20","holds":false,"reason":"the record has 25"}]}]}"#)
    }

    @Test("The explanation agrees with the evaluation", arguments: [UInt64.random(in: 0...UInt64.max)])
    func agrees(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for _ in 0..<2000 {
            let predicate = try random.predicate()
            let record = random.record()
            let explanation = PredicateExplanation(of: predicate, for: record)
            guard explanation.isMatch == predicate.matches(record) else {
                Issue.record("seed \(seed): \(predicate) for \(record): \(explanation)")
                return
            }
        }
    }
}
