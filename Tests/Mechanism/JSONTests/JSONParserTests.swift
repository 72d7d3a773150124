import Testing

@testable import JSON

@Suite("JSON parser")
struct JSONParserTests {
    private let parser = JSONParser()

    private func error(_ bytes: [UInt8]) -> JSONError? { parser.error(bytes) }

    private func error(_ text: String) -> JSONError? { error(Array(text.utf8)) }

    @Test(
        "A whole number is one however it is written",
        arguments: [
            ("1", 1), ("1.0", 1), ("1e3", 1000), ("-0.0", 0), ("217627.0", 217_627), ("1.5", nil), ("1e-1", nil),
            ("9223372036854775807", Int64.max), ("9223372036854775808", nil), ("1e19", nil), ("\"1\"", nil),
        ] as [(String, Int64?)])
    func wholeNumbers(text: String, number: Int64?) throws {
        #expect(try JSONParser().parse(text).int64 == number)
    }

    @Test("Values of every kind are read")
    func readsEveryKind() throws {
        let root = try parser.parse(
            #"{"s":"é\n\u0000x","i":-7,"u":18446744073709551615,"d":1.5,"t":true,"f":false,"n":null,"#
                + #""a":[1,[]],"o":{"x":{}}}"#
        )
        #expect(root.kind == .object)
        #expect(root["s"]?.string == "é\n\0x")
        #expect(root["s"]?.kind == .string)
        #expect(root["i"]?.int64 == -7)
        #expect(root["i"]?.uint64 == nil)
        #expect(root["i"]?.double == -7)
        #expect(root["u"]?.int64 == nil)
        #expect(root["u"]?.uint64 == .max)
        #expect(root["u"]?.kind == .integer)
        #expect(root["d"]?.double == 1.5)
        #expect(root["d"]?.int64 == nil)
        #expect(root["d"]?.kind == .double)
        #expect(root["t"]?.bool == true)
        #expect(root["f"]?.bool == false)
        #expect(root["n"]?.isNull == true)
        #expect(root["n"]?.bool == nil)
        #expect(root["a"]?.array?.map(\.kind) == [.integer, .array])
        #expect(root["a"]?.array?.count == 2)
        #expect(root["o"]?["x"]?.object?.isEmpty == true)
        #expect(root["missing"] == nil)
        #expect(root["s"]?["x"] == nil)
        #expect(root["s"]?.isString("é\n\0x") == true)
        #expect(root["s"]?.isString("é\n") == false)
    }

    @Test("Members come in the order of the document, and look-up gives the first of equal keys")
    func keepsOrderAndFirstDuplicate() throws {
        let object = try #require(
            try parser.parse(Array(#"{"b":1,"a":2,"b":3,"":4}"#.utf8), refusingRepeatedKeys: false).object)
        #expect(object.map(\.key) == ["b", "a", "b", ""])
        #expect(object.compactMap(\.value.int64) == [1, 2, 3, 4])
        #expect(object["b"]?.int64 == 1)
        #expect(object.member(named: "b")?.int64 == 1)
        #expect(object.member(named: "")?.int64 == 4)
        #expect(object.member(named: "c") == nil)
        #expect(object.first { member in member.isNamed("a") }?.keyValue.string == "a")
    }

    @Test("A root may be any value")
    func acceptsScalarRoots() throws {
        #expect(try parser.parse("7").int64 == 7)
        #expect(try parser.parse(" \"x\" ").string == "x")
        #expect(try parser.parse("null").isNull)
    }

    @Test("Integers are exact to the limits of 64 bits and refused beyond them")
    func readsNumbersAtTheirLimits() throws {
        #expect(try parser.parse("9223372036854775807").int64 == .max)
        #expect(try parser.parse("-9223372036854775808").int64 == .min)
        let beyond = try parser.parse("9223372036854775808")
        #expect(beyond.int64 == nil)
        #expect(beyond.uint64 == 1 << 63)
        #expect(try parser.parse("1e3").int64 == 1_000)
        #expect(try parser.parse("1e3").double == 1000)
        #expect(try parser.parse("1e-400").double == 0)
        for text in [
            "18446744073709551616", "-9223372036854775809", "1e400", "-1e400", String(repeating: "9", count: 60),
        ] {
            #expect(error(text)?.code == .numberOutOfRange, "\(text)")
        }
    }

    @Test("A parser that rounds reads numbers out of range as the nearest double, tells of it, and refuses the rest")
    func roundsNumbers() throws {
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: 512, roundsNumbers: true)
        let long = String(repeating: "9", count: 400)
        let value = try parser.parse(
            #"{"a": 18446744073709551616, "b": [-9223372036854775809, 1e400, -1e400, 7], "c": "1e400", "d": -\#(long)}"#
        )
        #expect(parser.roundedNumber?.code == .numberOutOfRange)
        #expect(parser.roundedNumber?.byteOffset == 6)
        let largest = Double.greatestFiniteMagnitude
        #expect(value["a"]?.kind == .double)
        #expect(value["a"]?.double == 0x1p64)
        #expect(value["b"]?.array?.map(\.double) == [-0x1p63, largest, -largest, 7])
        #expect(value["b"]?.array?.map(\.int64) == [nil, nil, nil, 7])
        #expect(value["c"]?.string == "1e400")
        #expect(value["d"]?.double == -largest)
        #expect(throws: JSONError.self) { try parser.parse("[1e400, 01]") }
        #expect(throws: JSONError.self) { try parser.parse("[[[[[1e400]]]]]") }
        // A rounded number can be longer than the written one.
        let many = "[\(Array(repeating: "1e400", count: 80).joined(separator: ","))]"
        #expect {
            try parser.parse(many)
        } throws: { error in
            (error as? JSONError)?.code == .tooLarge
        }
        _ = try parser.parse("[18446744073709551615, 1e300]")
        #expect(parser.roundedNumber == nil)
    }

    @Test(
        "What is not JSON is refused with its place",
        arguments: [
            ("", .empty, nil), (" \n", .empty, nil), ("{", .invalidSyntax, 1), (#"{"a":1,}"#, .invalidSyntax, 7),
            ("[1,]", .invalidSyntax, 3), ("[1 2]", .invalidSyntax, 3), ("1 2", .invalidSyntax, 2),
            ("nul", .invalidSyntax, 3), ("truex", .invalidSyntax, 4), ("01", .invalidSyntax, 0),
            ("1.", .invalidSyntax, 2), ("+1", .invalidSyntax, 0), ("'a'", .invalidSyntax, 0),
            ("\"a", .invalidSyntax, 0), ("\"\u{1}\"", .invalidSyntax, 1), (#""\x""#, .invalidSyntax, 2),
            (#""\ud800""#, .invalidSyntax, 1), (#""\udc00""#, .invalidSyntax, 1), (#""\ud800A""#, .invalidSyntax, 1),
            ("\0", .invalidSyntax, 0), ("[1\0]", .invalidSyntax, 2),
            (#"{"a" 1}"#, .invalidSyntax, 5), ("{1:2}", .invalidSyntax, 1), ("NaN", .invalidSyntax, 0),
            ("// x\n1", .invalidSyntax, 0), ("}", .invalidSyntax, 0), ("[}", .invalidSyntax, 1),
        ] as [(String, JSONError.Code, Int?)]
    )
    func refusesWhatIsNotJSON(text: String, code: JSONError.Code, byteOffset: Int?) throws {
        let fault = try #require(error(text))
        #expect(fault.code == code)
        #expect(fault.byteOffset == byteOffset)
        #expect(!fault.message.isEmpty)
    }

    @Test("Bytes that are not UTF-8 are refused with their place")
    func refusesInvalidUTF8() throws {
        let broken: [[UInt8]] = [
            [0x22, 0xff, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xc0, 0x80, 0x22],
            [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22], [0x22, 0x80], [0x22, 0xe2, 0x82],
        ]
        for bytes in broken {
            let fault = try #require(error(bytes))
            #expect(fault.code == .invalidUTF8, "\(bytes)")
            #expect(fault.byteOffset == 1, "\(bytes)")
        }
    }

    @Test("Documents may be as deep as the maximum, and no deeper")
    func limitsTheDepth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        }
        #expect(error(nested(64)) == nil)
        for depth in [65, 100, 5000] {
            #expect(error(nested(depth))?.code == .tooDeep)
            #expect(error(String(repeating: "[", count: depth + 1))?.code == .tooDeep)
        }
        #expect(error(String(repeating: "{\"a\":", count: 100))?.code == .tooDeep)
        let deep = JSONParser(depthMaximum: 1024)
        #expect(try deep.parse(nested(1024)).minified == Array(nested(1024).utf8))
    }

    @Test("A document larger than the maximum is refused, and a large one within it is read")
    func limitsTheSize() throws {
        let small = JSONParser(bytesMaximum: 4)
        #expect(try small.parse("1234").int64 == 1234)
        #expect(throws: JSONError.self) { try small.parse("12345") }
        let text = "[\"" + String(repeating: "x", count: 5_000_000) + "\"]"
        #expect(try parser.parse(text).array?.first { _ in true }?.string?.utf8.count == 5_000_000)
        #expect(try parser.parse("[1]").array?.count == 1, "a small document after a large one")
    }

    @Test("A parser is as good after a refused document as before")
    func survivesRefusals() throws {
        for _ in 0..<3 {
            #expect(error("{") != nil)
            #expect(try parser.parse("{}").object?.isEmpty == true)
        }
    }

    @Test("Every beginning of a document is either JSON or refused")
    func survivesEveryTruncation() throws {
        let text = #"{"specversion":"1.0","é":["\ud83d\ude00",-1.5e-7,true,null,{"k":{}}],"n":12345678901}"#
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            #expect(error(Array(bytes.prefix(count))) != nil)
        }
        #expect(error(bytes) == nil)
    }

    @Test("The buffers of a large document are given back when asked, or by the next small one")
    func givesBuffersBack() throws {
        let parser = JSONParser()
        let least = parser.capacityBytes
        #expect(least == 0, "a parser without a document has no buffers")
        let large = "[" + String(repeating: "1,", count: 2 << 20) + "1]"
        for _ in 0..<2 {
            #expect(try parser.parse(large).array != nil)
            #expect(parser.capacityBytes >= large.utf8.count)
            parser.relinquish()
            #expect(parser.capacityBytes == least)
        }
        _ = try parser.parse(large)
        #expect(try parser.parse("[1]").array?.isEmpty == false)
        #expect(parser.capacityBytes <= JSONParser.retainedBytes)
        _ = try parser.parse("[" + String(repeating: "1,", count: 20_000) + "1]")
        let kept = parser.capacityBytes
        parser.relinquish()
        #expect(parser.capacityBytes == kept, "buffers of usual documents are kept")
        parser.relinquish(retainedBytes: 0)
        #expect(parser.capacityBytes == 0)
        #expect(try parser.parse("[1]").array?.isEmpty == false)
    }

    @Test("Using a value after its parser parsed again ends the process instead of reading other memory")
    func trapsOnStaleValues() async {
        await #expect(processExitsWith: .failure) {
            let parser = JSONParser()
            let stale = try parser.parse("[1]")
            _ = try parser.parse("[2]")
            _ = stale.kind
        }
    }

    @Test("Values outlive every other reference to their parser")
    func valuesHoldTheirParser() throws {
        let value = try JSONParser().parse(#"["a string of more than fifteen bytes"]"#)
        #expect(value.array?.compactMap(\.string) == ["a string of more than fifteen bytes"])
    }

    @Test("Minifying keeps order, duplicates and integers, and shortens doubles")
    func minifies() throws {
        let text =
            #" { "b" : [ 1 , -0.50, 18446744073709551615, 1e2 , "\u00e9\/\u001f\"" ] , "a":{}, "a":[ ] , "n" : null } "#
        let expected = #"{"b":[1,-0.5,18446744073709551615,100.0,"é/\u001f\""],"a":{},"a":[],"n":null}"#
        let value = try parser.parse(Array(text.utf8), refusingRepeatedKeys: false)
        #expect(String(decoding: value.minified, as: UTF8.self) == expected)
    }
}

extension JSONParser {
    /// Why a document is refused; nil if it is not.
    func error(_ bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try parse(bytes)
            return nil
        } catch {
            return error
        }
    }
}
