import JSON
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test("Every kind of value is written, with commas where they belong")
    func writesEveryKind() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.integer(-7)
        writer.integer(UInt64.max)
        writer.integer(Int64.min)
        writer.double(0.1)
        writer.double(.nan)
        writer.boolean(true)
        writer.null()
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.endArray()
        writer.key(dynamic: "k\"")
        writer.string("x")
        writer.key("r")
        writer.raw(Array(#"{"y":1}"#.utf8))
        writer.endObject()
        let expected =
            #"{"a":[-7,18446744073709551615,-9223372036854775808,0.1,null,true,null,{},[]],"k\"":"x","r":{"y":1}}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test("Members, objects and arrays are written in one call each, and nothing where a value is nil")
    func writesMembers() {
        let json = JSONWriter.object { writer in
            writer.member("text", "x")
            writer.member("noText", nil as String?)
            writer.member("count", UInt64.max)
            writer.member("noCount", nil as Int?)
            writer.member("share", 0.5)
            writer.member("isOn", false)
            writer.member(dynamic: "k\"", "v")
            writer.member(dynamic: "n", -1)
            writer.object("object") { writer in writer.array("empty") { _ in } }
            writer.array("list") { writer in
                writer.object { writer in writer.member("a", 1) }
                writer.array { writer in writer.integer(2) }
            }
            writer.array("objects", 1...2) { writer, number in writer.member("number", number) }
            writer.array("texts", texts: ["a", "b"])
        }
        let expected =
            #"{"text":"x","count":18446744073709551615,"share":0.5,"isOn":false,"k\"":"v","n":-1,"#
            + #""object":{"empty":[]},"list":[{"a":1},[2]],"objects":[{"number":1},{"number":2}],"texts":["a","b"]}"#
        #expect(String(decoding: json, as: UTF8.self) == expected)
    }

    @Test("Strings are escaped where JSON demands it and nowhere else")
    func escapesStrings() {
        var writer = JSONWriter()
        writer.string("\"\\/\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}é😀\u{2028}")
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == "\"\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}é😀\u{2028}\""
        )
    }

    @Test("A byte that must be escaped is found wherever it stands among others")
    func findsEscapesAnywhere() throws {
        let parser = JSONParser()
        var writer = JSONWriter()
        for scalar in ["\"", "\\", "\n", "\0", "\u{1f}", " ", "!", "#", "[", "]", "\u{7f}", "é", "\u{10ffff}"] {
            for count in 0..<20 {
                for position in 0...count {
                    let text =
                        String(repeating: "x", count: position) + scalar
                        + String(repeating: "\"", count: position % 2) + String(repeating: "y", count: count - position)
                    writer.removeAll()
                    writer.string(text)
                    #expect(try parser.parse(writer.bytes).string == text)
                }
            }
        }
    }

    @Test("Bytes that are not UTF-8 are repaired")
    func repairsInvalidUTF8() {
        var writer = JSONWriter()
        let broken: [UInt8] = [0x61, 0xff, 0x62]
        broken.withUnsafeBufferPointer { bytes in writer.string(utf8: bytes) }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"a\u{fffd}b\"")
    }

    @Test("A writer begins anew after it was emptied")
    func beginsAnew() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.integer(1)
        writer.removeAll()
        writer.integer(2)
        #expect(writer.bytes == Array("2".utf8))
    }

    @Test("A value of a parsed document is written minified")
    func writesParsedValues() throws {
        let parser = JSONParser()
        var writer = JSONWriter()
        writer.beginArray()
        writer.value(try parser.parse("[ 1 ]"))
        writer.value(try parser.parse("{ }"))
        writer.endArray()
        #expect(writer.bytes == Array("[[1],{}]".utf8))
    }
}
