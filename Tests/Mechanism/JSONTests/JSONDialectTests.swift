import JSON
import PushTestKit
import Testing

@Suite("JSON as other programs write it")
struct JSONDialectTests {
    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: 1 << 20)

    private func error(_ bytes: [UInt8]) -> JSONError? { parser.error(bytes) }

    @Test("A byte order mark before a document is skipped, one elsewhere is refused, and offsets count it")
    func byteOrderMark() throws {
        let mark = JSONParser.byteOrderMark
        for text in [#"{"a":1}"#, "7", " [] "] {
            #expect(try parser.parse(mark + Array(text.utf8)).minified == parser.parse(text).minified)
        }
        #expect(error(mark)?.code == .empty)
        #expect(error(mark + mark + Array("7".utf8))?.code == .invalidSyntax)
        #expect(error(Array("7".utf8) + mark)?.code == .invalidSyntax)
        #expect(error(mark + Array("[1,]".utf8))?.byteOffset == 6)
        #expect(error([0xef, 0xbb])?.code == .invalidUTF8)
    }

    @Test("Values that are cut out of a stream may begin with a byte order mark, in any parts")
    func splitterSkipsMark() {
        let bytes = JSONParser.byteOrderMark + Array("{\"a\":1}\n{}".utf8)
        for cut in 0...bytes.count {
            var splitter = JSONValueSplitter(bytesMaximum: 100)
            let values = splitter.add(bytes[..<cut]) + splitter.add(bytes[cut...]) + splitter.finish()
            #expect(values.map(\.bytes) == [Array(#"{"a":1}"#.utf8), Array("{}".utf8)])
        }
    }

    @Test(
        "A number without a fraction is an integer, however it is written, as far as doubles are exact",
        arguments: [
            ("7", 7), ("7.0", 7), ("7e0", 7), ("70E-1", 7), ("-0.0", 0), ("1e3", 1_000),
            ("9007199254740991.0", 1 << 53 - 1), ("9007199254740992.0", nil),
            ("-9007199254740991.0", -(1 << 53 - 1)), ("9223372036854775807", .max), ("7.5", nil), ("1e-1", nil),
            ("9007199254740994.0", nil), ("1e19", nil), ("1e300", nil), ("18446744073709551615", nil), ("true", nil),
            ("\"7\"", nil), ("null", nil),
        ] as [(String, Int64?)])
    func integers(text: String, expected: Int64?) throws {
        let value = try parser.parse(text)
        #expect(value.int64 == expected)
        if let expected { #expect(value.uint64 == UInt64(exactly: expected)) }
    }

    @Test(
        "A key that occurs twice in one object is refused by name, at any depth and however it is escaped",
        arguments: [
            (#"{"a":1,"a":1}"#, "\"a\""), (#"[{"b":{}},{"x":[{"c":1,"d":2,"c":3}]}]"#, "\"c\""),
            (#"{"ab":1,"\u0061b":2}"#, "\"ab\""), (#"{"":1,"":2}"#, "the key \"\""), (#"{"\n":1,"\n":2}"#, "1 bytes"),
            (#"{"a":{"a":{"a":[{"a":1}]}},"b":1}"#, nil), (#"{"a":1,"A":2,"á":3}"#, nil), ("[1,1,\"a\",\"a\"]", nil),
            (#"{"a":"b","b":"a"}"#, nil), ("{}", nil),
        ])
    func repeatedKeys(text: String, named: String?) throws {
        let found = error(Array(text.utf8))
        #expect(found?.code == named.map { _ in .repeatedKey })
        if let named { #expect(found?.message.contains(named) == true, "\(String(describing: found))") }
        #expect(try parser.parse(Array(text.utf8), refusingRepeatedKeys: false).kind != .null)
    }

    @Test("Objects of any size are refused exactly if two keys are the same", arguments: 0..<200)
    func repeatedKeysOfAnySize(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 0...120, using: &random)
        // The fewer names there are, the likelier is a repetition.
        let names = Int.random(in: max(1, count)...max(1, count * count), using: &random)
        let keys = (0..<count).map { _ in "k\(Int.random(in: 0..<names, using: &random))" }
        let members = keys.map { #""\#($0)":{"n":1.5,"s":"\#($0)"}"# }.joined(separator: ",")
        #expect((error(Array("[{\(members)}]".utf8)) != nil) == (Set(keys).count < count), "\(keys)")
    }
}
