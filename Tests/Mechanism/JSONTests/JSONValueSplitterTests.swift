import JSON
import Testing

@Suite("Values cut out of a file")
struct JSONValueSplitterTests {
    private func split(_ text: String, step: Int = .max, maximum: Int = 1_000) -> [(Int, String?)] {
        var splitter = JSONValueSplitter(bytesMaximum: maximum)
        var values: [JSONValueSplitter.Value] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            values += splitter.add(rest.prefix(step))
            rest = rest.dropFirst(step)
        }
        values += splitter.finish()
        return values.map { ($0.lines.lowerBound, $0.bytes.map { String(decoding: $0, as: UTF8.self) }) }
    }

    private func expect(_ text: String, _ expected: [(Int, String?)], maximum: Int = 1_000) {
        for step in [1, 3, .max] {
            let found = split(text, step: step, maximum: maximum)
            #expect(found.elementsEqual(expected) { $0 == $1 }, "\(found)")
        }
    }

    @Test("A value over many lines, several in a row and one on each line are told apart by their first lines")
    func shapes() {
        expect("{\n \"a\": [1,\n {}]\n}\n", [(1, "{\n \"a\": [1,\n {}]\n}")])
        expect("{\"a\":1}\r\n\r\n{\"b\":2}", [(1, "{\"a\":1}"), (3, "{\"b\":2}")])
        expect("{} {}{}\n", [(1, "{}"), (1, "{}"), (1, "{}")])
        expect("", [])
        expect(" \n\t\n", [])
    }

    @Test("Brackets and escapes in strings are not structure")
    func strings() {
        expect(#"{"a":"}\"{[\\"}{"b":"]"}"#, [(1, #"{"a":"}\"{[\\"}"#), (1, #"{"b":"]"}"#)])
    }

    @Test("A value that breaks off does not swallow those behind it")
    func broken() {
        expect("{\n{\"a\":1}\n", [(1, "{\n"), (2, "{\"a\":1}")])
        expect("{\"a\":\"x\n{\"b\":2}", [(1, "{\"a\":\"x"), (2, "{\"b\":2}")])
        expect("{\"a\":1\n{\"b\":2}\n}", [(1, "{\"a\":1\n"), (2, "{\"b\":2}"), (3, "}")])
        expect("nonsense\n{}", [(1, "nonsense"), (2, "{}")])
        expect("{\"a\":", [(1, "{\"a\":")])
    }

    @Test("A value tells the lines over which it goes")
    func lines() {
        var splitter = JSONValueSplitter(bytesMaximum: 1_000)
        let text = "{\"a\":1}\n\n{\"b\":\n{\"c\":2}\n{\"d\":[\n]\n}\n{\n"
        let values = splitter.add(Array(text.utf8)[...]) + splitter.finish()
        #expect(values.map(\.lines) == [1...1, 3...4, 5...7, 8...8])
    }

    @Test("A value that is too long is not collected, and counted once")
    func tooLong() {
        expect("{\"a\":\"" + String(repeating: "x", count: 100) + "\"}\n{}", [(1, nil), (2, "{}")], maximum: 50)
    }
}
