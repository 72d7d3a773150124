import HTTPServer
import PushTestKit
import Testing

@Suite("The target of a request")
struct HTTPTargetTests {
    @Test("Segments and query items are percent-decoded, once")
    func decoding() throws {
        let target = try #require(HTTPTarget("/a%2Fb/%25zz/us-east-1:1?x=%20y&z&q=1=2+3"))
        #expect(target.rawPath == "/a%2Fb/%25zz/us-east-1:1")
        #expect(target.segments == ["a/b", "%zz", "us-east-1:1"])
        #expect(
            target.queryItems == [
                HTTPQueryItem(name: "x", value: " y"), HTTPQueryItem(name: "z", value: ""),
                HTTPQueryItem(name: "q", value: "1=2+3"),
            ])
    }

    @Test("Empty segments count, and dots are segments like any other")
    func segments() {
        #expect(HTTPTarget("/")?.segments == [])
        #expect(HTTPTarget("/a/")?.segments == ["a", ""])
        #expect(HTTPTarget("//a")?.segments == ["", "a"])
        #expect(HTTPTarget("/../a")?.segments == ["..", "a"])
    }

    @Test(
        "What is not well-formed is refused",
        arguments: [
            "", "a", "*", "http://host/", "/%", "/%4", "/%zz", "/%00", "/a?%00", "/%ff", "/a?x=%c3", "/a b", "/ä",
            "/a#b", "/\u{1}", "/a?b=%2", String(repeating: "/a", count: 65),
        ])
    func refusals(_ text: String) { #expect(HTTPTarget(text) == nil) }

    @Test("No text is a reason to crash, and what is accepted decodes to what its bytes say")
    func randomTexts() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("/%?&=abf04 \u{e4}".unicodeScalars)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            var text = "/"
            for _ in 0..<count { text.unicodeScalars.append(alphabet.randomElement(using: &generator) ?? "a") }
            guard let target = HTTPTarget(text) else { continue }
            let path = String(text.prefix { $0 != "?" })
            #expect(target.rawPath == path, "seed \(seed): \(text)")
            if !path.contains("%"), path != "/" {
                #expect("/" + target.segments.joined(separator: "/") == path, "seed \(seed): \(text)")
            }
        }
    }
}
