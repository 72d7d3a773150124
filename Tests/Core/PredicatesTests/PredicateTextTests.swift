import Geography
import Predicates
import PushTestKit
import Testing

@Suite("Predicates: their text")
struct PredicateTextTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }

    @Test("The text of every predicate reads back as that predicate", arguments: seeds)
    func roundTrips(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<3000 {
            let predicate = try random.predicate()
            let text = predicate.description
            do {
                guard try Predicate(parsing: text) == predicate else {
                    Issue.record("seed \(seed), round \(round): \(text) reads back as another")
                    return
                }
            } catch {
                Issue.record("seed \(seed), round \(round): \(text) is refused: \(error)")
                return
            }
        }
    }

    @Test("Predicates with long texts of the oddest characters have texts that read back")
    func roundTripsExtremes() throws {
        let controls = String(repeating: "\u{1}\u{202e}\\\"`", count: 120)
        let path = String(repeating: "`", count: 250)
        let conjunctions = (0..<4).map { row in
            (0..<5).map { column in
                PredicateTerm(path + "\(row)\(column)", .equals(.string(controls + "\(row)"), .exact))
            }
        }
        let predicate = try Predicate(anyOf: conjunctions)
        #expect(try Predicate(parsing: predicate.description) == predicate)
        for milliseconds: Int64 in [
            .min, .max, 0, -1, -62_167_219_200_000, -62_167_219_200_001, 253_402_300_799_999, 253_402_300_800_000,
        ] {
            let dated = try Predicate(PredicateTerm("a", .equals(.date(milliseconds: milliseconds), .exact)))
            #expect(try Predicate(parsing: dated.description) == dated, "\(dated)")
        }
        for number in [Double.leastNonzeroMagnitude, .greatestFiniteMagnitude, -0x1p63, 0x1p53, 0.1, -1e22] {
            let value = try #require(FieldValue.of(number))
            let numbered = try Predicate(PredicateTerm("a", .equals(value, .exact)))
            #expect(try Predicate(parsing: numbered.description) == numbered, "\(numbered)")
        }
    }

    @Test(
        "What is written differently and means the same is the same",
        arguments: [
            ("artist = \"Mei Chen\" AND price <= 20", "price=<20 && artist == 'mei chen'"),
            ("price BETWEEN {1, 5}", "price >= 1 AND 5 >= price"),
            ("NOT (a = 1 OR b = 2)", "a != 1 AND b <> 2"),
            ("NOT NOT a = 1", "!(!(a = 1))"),
            ("NOT (a > 1 AND a < 5)", "NOT (a < 5 AND a > 1)"),
            ("a = 1 OR b = 2 AND c = 3", "(c = 3 AND b = 2) OR a = 1"),
            ("ANY tags = \"Live\"", "some tags = 'live'"),
            ("tags CONTAINS \"live\"", "\"live\" IN tags"),
            ("a CONTAINS date(5)", "date(5) IN a"),
            ("a CONTAINS date(\"2026-01-31T12:00:00Z\")", "date('2026-01-31T12:00:00Z') IN a"),
            ("a CONTAINS date(1769860800000)", "CAST('2026-01-31T12:00:00Z', 'NSDate') IN a"),
            ("a CONTAINS reference('x')", "reference('x') IN a"),
            ("a = reference('x')", "a = reference('x', '_defaultZone')"),
            ("a CONTAINS reference('x', 'z')", "reference('x', \"z\") IN a"),
            ("a CONTAINS bytes('AQI=')", "bytes('AQI=') IN a"),
            ("a CONTAINS location(1, 2)", "location(1, 2) IN a"),
            ("a > date(5) AND a != reference('r')", "date(5) < a AND reference('r') != a"),
            ("`date` = 1", "1 = date"),
            ("a = date(\"2026-01-31T12:00:00Z\")", "a = CAST('2026-01-31T13:00:00+01:00', 'NSDate')"),
            ("a = date(1769860800000)", "a = date(\"2026-01-31T12:00:00Z\")"),
            (
                "distanceToLocation:fromLocation:(location, {1, 2}) < 5",
                "distanceToLocation:fromLocation:(location(1.0, 2), location) < 5e0"
            ),
            ("self CONTAINS \"Bob the SMITH\"", "SELF TOKENMATCHES[cdl] \"smith bob\""),
            ("flag = TRUE", "flag = yes"),
            ("a = \"\\u{e9}\"", "a = \"e\u{301}\""),
            ("a IN {2, 1, 1.0}", "a in {1, 2}"),
            ("a IN {1}", "a = 1"),
            ("`in` = 1", "`in`=1"),
            ("a IN {}", "FALSEPREDICATE"),
            ("NOT a IN {}", "TRUEPREDICATE"),
        ])
    func equivalents(left: String, right: String) throws {
        #expect(try Predicate(parsing: left) == Predicate(parsing: right))
    }

    @Test(
        "Texts have one look",
        arguments: [
            ("artist = 'Mei Chen' && price<=20", "artist = \"mei chen\" AND price <= 20"),
            ("NOT (a < 5 AND a > 1)", "NOT (a > 1 AND a < 5)"),
            ("b = 2 or (a = 1 and c =[n] 'X')", "(a = 1 AND c =[n] \"X\") OR b = 2"),
            ("NOT ANY tags IN {2, 'b'}", "NOT ANY tags IN {\"b\", 2}"),
            ("where1 = location(52.5, 13)", "where1 = location(52.5, 13)"),
            ("`order` = 1 AND `in` != nothing", nil),
        ] as [(String, String?)])
    func look(text: String, expected: String?) throws {
        #expect((try? Predicate(parsing: text))?.description == expected)
    }

    @Test(
        "A fault names its line and column, what was found and what was expected",
        arguments: [
            ("", 1, 1, "the predicate ends; expected a field"),
            ("price <= ", 1, 10, "the predicate ends; expected a value"),
            ("price <= 20 AND", 1, 16, "the predicate ends; expected a field"),
            ("price\n  ~ 20", 2, 3, "\"~\" means nothing here"),
            ("artist = Mei", 1, 10, "found the name \"Mei\"; expected a value"),
            ("artist LIKE \"M*\"", 1, 8, "LIKE is not supported"),
            ("a = %@", 1, 5, "\"%\" means nothing here; placeholders are not substituted"),
            ("a = nil", 1, 5, "a missing field cannot be asked for"),
            ("a = 'x", 1, 5, "the quote that begins here is not closed"),
            ("a = '\\x'", 1, 6, "this is no escape"),
            ("(a = 1", 1, 7, "the predicate ends; expected AND, OR or )"),
            ("a = 1)", 1, 6, "found ); expected AND, OR or the end"),
            ("ALL a = 1", 1, 1, "found ALL; of a list, only ANY"),
            ("ANY a < 1", 1, 7, "< cannot be asked of ANY member"),
            ("a BETWEEN {1}", 1, 11, "BETWEEN must be followed by two values"),
            ("a < {1}", 1, 5, "< cannot order this"),
            ("a =[d] 'x'", 1, 3, "= cannot be followed by [d]; expected [c] or [n]"),
            ("a BEGINSWITH[c] 'x'", 1, 3, "BEGINSWITH cannot be followed by [c]; expected nothing"),
            ("self CONTAINS 'the'", 1, 15, "there is no word to search for"),
            ("self = 1", 1, 6, "self stands for all fields"),
            ("a = date('yesterday')", 1, 10, "found the text \"yesterday\"; expected an RFC 3339 timestamp"),
            ("a < now()", 1, 5, "now() would be another moment"),
            ("a = bytes('%')", 1, 11, "this is no base64"),
            ("distanceToLocation:fromLocation:(a, {91, 0}) < 1", 1, 38, "this is no place on the Earth"),
            ("distanceToLocation:fromLocation:(a, {1, 0}) > 1", 1, 45, "only what lies within a circle"),
            ("dates(1) IN a", 1, 1, "there is no function \"dates\"; expected date"),
            ("2x = 1", 1, 1, "a name begins with a letter"),
            ("`` = 1", 1, 1, "the name of the field is empty"),
            ("`a..b` = 1", 1, 1, "\"a..b\" is no path of a field"),
            ("é👩‍👩‍👧 = 1", 1, 2, "\"👩\" means nothing here"),
            ("ANY a BEGINSWITH ''", 1, 1, "the beginning of a list's member must not be empty"),
        ])
    func faults(text: String, line: Int, column: Int, message: String) {
        #expect {
            try Predicate(parsing: text)
        } throws: { error in
            guard let error = error as? PredicateError else { return false }
            #expect(error.location == .text(line: line, column: column), "\(error)")
            #expect(error.message.hasPrefix(message), "\(error)")
            return true
        }
    }

    @Test("However deep and long a text is, it is read or refused", arguments: ["(", "NOT ", "!", "a = {", "ANY "])
    func survivesDepth(part: String) {
        let text = String(repeating: part, count: 20_000)
        #expect(throws: PredicateError.self) { try Predicate(parsing: text) }
        #expect(throws: PredicateError.self) { try Predicate(parsing: String(repeating: "a", count: 600_000)) }
    }

    @Test("Any text is read or refused; none crashes, and what is read has a text that reads back", arguments: seeds)
    func survivesAnyText(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        let parts = [
            "a", "b.c", "`x y`", "=", "!=", "<", ">=", "AND", "OR", "NOT", "(", ")", "{", "}", "[n]", "[c]", ",", "1",
            "-2.5",
            "'x'", "\"the bob\"", "IN", "BETWEEN {1, 2}", "CONTAINS", "ANY", "self", "BEGINSWITH", "date(1)", "TRUE",
            "\\",
            "distanceToLocation:fromLocation:(a, {1, 2}) < 3", "TRUEPREDICATE", "\u{0}", "é", "'", "`", "\n",
            "CONTAINSTEXT",
        ]
        for _ in 0..<5000 {
            var text = ""
            if Bool.random(using: &random.generator) {
                for _ in 0..<Int.random(in: 1...12, using: &random.generator) {
                    text += (parts.randomElement(using: &random.generator) ?? "") + " "
                }
            } else {
                var scalars = Array(try random.predicate().description.unicodeScalars)
                let index = Int.random(in: 0..<scalars.count, using: &random.generator)
                scalars[index] = Unicode.Scalar(UInt8.random(in: 0...255, using: &random.generator))
                for scalar in scalars { text.unicodeScalars.append(scalar) }
            }
            guard let predicate = try? Predicate(parsing: text) else { continue }
            guard (try? Predicate(parsing: predicate.description)) == predicate else {
                Issue.record("seed \(seed): \(text) is read as \(predicate), which does not read back")
                return
            }
        }
    }
}
