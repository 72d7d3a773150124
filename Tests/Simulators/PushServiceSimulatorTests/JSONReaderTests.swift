import JSON
import PushTestKit
import Testing

@testable import PushServiceSimulator

@Suite("The reader of payloads")
struct JSONReaderTests {
    private static let samples = [
        #"{"aps":{"alert":{"title":"a","loc-args":["x",1,-2.5,true,false,null,{}]},"badge":0},"x":[[]]}"#,
        #" { "aps" : { "content-available" : 1 } , "data" : "\u00e9\n\"\\" } "#,
        #"{"emoji":"🦅é","numbers":[0,-0,19,0.1,1234567]}"#,
    ]

    private func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            do {
                var reader = try JSONReader(buffer)
                try reader.skipValue()
                try reader.readEnd()
                return true
            } catch {
                return false
            }
        }
    }

    /// Simdjson also refuses numbers that no double can hold, so no exponents are tried.
    @Test("What is changed at random is JSON to the reader if it is JSON to simdjson")
    func agreesWithSimdjson() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let parser = JSONParser()
        let alphabet = Array(#"{}[]:,"\0123456789.+-trufalsn "#.utf8) + [0xC3, 0xA9, 0xF0, 0x9F, 0x0A, 0x00, 0xFF]
        for round in 0..<20_000 {
            var bytes = Array(Self.samples[round % Self.samples.count].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                case 1: bytes.remove(at: index)
                default: bytes.insert(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)], at: index)
                }
            }
            let expected = (try? parser.parse(bytes)) != nil
            #expect(accepts(bytes) == expected, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test("Escapes are undone as simdjson does it, halves of surrogate pairs refused")
    func escapes() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let parser = JSONParser()
        let pieces = [
            "a", "\\n", "\\\\", "\\/", "\\b\\f\\r\\t", "\\\"", "\\u00e9", "\\u0000", "\\uD83E", "\\udd85", "🦅",
            "\\u20AC",
        ]
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            let bytes = Array("\"\(text)\"".utf8)
            let expected = try? parser.parse(bytes).string
            let found = bytes.withUnsafeBufferPointer { buffer -> String? in
                var reader = try? JSONReader(buffer)
                return try? reader?.readText()
            }
            #expect(found == expected, "seed \(seed): \(text)")
        }
    }

    @Test("Arrays and words are read one by one, and nothing is taken for what it is not")
    func arrays() throws {
        func elements(_ text: String) -> [String]? {
            Array(text.utf8).withUnsafeBufferPointer { buffer in
                do {
                    var reader = try JSONReader(buffer)
                    var elements: [String] = []
                    try reader.enterArray()
                    while try reader.nextElement() {
                        if reader.nextByte == UInt8(ascii: "t") {
                            try reader.readWord("true")
                            elements.append("true")
                        } else {
                            elements.append(try reader.readNumberText())
                        }
                    }
                    try reader.readEnd()
                    return elements
                } catch {
                    return nil
                }
            }
        }
        #expect(elements("[]") == [] && elements("[ 1.50 , true,-2e3 ]") == ["1.50", "true", "-2e3"])
        for text in ["[1,]", "[,1]", "[1 2]", "[tru]", "[1", "[]]", "{}"] { #expect(elements(text) == nil, "\(text)") }
    }

    @Test("Exponents are read as the grammar has them")
    func exponents() {
        for text in ["1e9", "-0E+0", "2.5e-3"] { #expect(accepts(Array(text.utf8))) }
        for text in ["1e", "e9", "1e+", "1.e9", ".5e1", "1ee9", "+1e9"] { #expect(!accepts(Array(text.utf8))) }
    }
}
