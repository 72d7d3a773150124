import PushTestKit
import TOML
import Testing

@Suite("TOML documents")
struct TOMLDocumentTests {
    private func parse(_ text: String) throws(TOMLError) -> [TOMLEntry] { try TOMLDocument.parse(Array(text.utf8)) }

    @Test("Every kind of value is read, with its line, in the order of the document")
    func everyKindOfValue() throws {
        let entries = try parse(
            """
            zebra = "s"
            integer = -7
            number = 1.5
            yes = true
            date = 2024-05-06
            time = 2024-05-06T07:08:09Z
            array = [1,
              2]
            [table]
            inner = ""
            [[many]]
            n = 1
            [[many]]
            n = 2
            [many.sub]
            k = 'v'
            """)
        #expect(entries.map(\.key) == ["zebra", "integer", "number", "yes", "date", "time", "array", "table", "many"])
        #expect(entries[0].node == TOMLNode(.string("s"), line: 1))
        #expect(entries[1].node == TOMLNode(.integer(-7), line: 2))
        #expect(entries[2].node == TOMLNode(.number(1.5), line: 3))
        #expect(entries[3].node == TOMLNode(.boolean(true), line: 4))
        #expect(entries[4].node == TOMLNode(.dateTime("2024-05-06"), line: 5))
        #expect(entries[5].node == TOMLNode(.dateTime("2024-05-06T07:08:09Z"), line: 6))
        let elements = [TOMLNode(.integer(1), line: 7), TOMLNode(.integer(2), line: 8)]
        #expect(entries[6].node == TOMLNode(.array(elements), line: 7))
        let inner = TOMLEntry(key: "inner", node: TOMLNode(.string(""), line: 10))
        #expect(entries[7].node.value == .table([inner]))
        guard case .array(let many) = entries[8].node.value else { throw TestFailure() }
        #expect(many.count == 2)
        guard case .table(let last) = many[1].value else { throw TestFailure() }
        #expect(last.map(\.key) == ["n", "sub"])
        #expect(last[0].node == TOMLNode(.integer(2), line: 14))
    }

    @Test("An empty document has no entries")
    func emptyDocument() throws { #expect(try parse("").isEmpty) }

    @Test(
        "What is not TOML is an error with the line",
        arguments: [
            ("a = 1\nb = ", 2), ("a = 1\na = 2", 2), ("[x\n", 1), ("a = \"\u{0}\"", 1), ("a = 'open", 1),
            ("x = 1\ny = 99999999999999999999", 2),
        ])
    func brokenDocuments(text: String, line: Int) throws {
        let error = try #require(throws: TOMLError.self) { try parse(text) }
        #expect(error.line == line)
        #expect(!error.message.isEmpty)
    }

    @Test("Broken UTF-8 is an error")
    func brokenUTF8() {
        #expect(throws: TOMLError.self) { try TOMLDocument.parse(Array("a = \"".utf8) + [0xFF, 0xFE, 0x22]) }
    }

    @Test("Input that breaks the parser's own assertions is an error", arguments: ["[=", "[[,", "[ #", "[[\n]]"])
    func brokenAssertions(text: String) { #expect(throws: TOMLError.self) { try parse(text) } }

    @Test("Deep nesting is an error, not the end of the process")
    func deepNesting() {
        let text = "a = " + String(repeating: "[", count: 100_000)
        #expect(throws: TOMLError.self) { try parse(text) }
        #expect(throws: TOMLError.self) { try parse("a = " + String(repeating: "{b=", count: 10_000)) }
    }

    @Test("A key of thousands of parts is an error")
    func deepDottedKeys() {
        let text = "a" + String(repeating: ".a", count: 20_000) + " = 1"
        #expect(throws: TOMLError.self) { try parse(text) }
    }

    @Test("A document that is too long is refused")
    func tooLong() {
        #expect(throws: TOMLError.self) {
            try TOMLDocument.parse([UInt8](repeating: 0x20, count: TOMLDocument.sizeBytesMaximum + 1))
        }
    }

    @Test("Random bytes never end the process")
    func randomBytes() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("ab=[]{}\"'\n.,#1-:T\\u0".utf8) + [0xC3, 0xFF, 0x00]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            do {
                _ = try TOMLDocument.parse(bytes)
            } catch {
                #expect(!error.message.isEmpty, "seed \(seed)")
            }
        }
    }
}

private struct TestFailure: Error {}
