import PushTestKit
import Testing

@testable import HTTPServer

@Suite("The parser of requests")
struct HTTPRequestParserTests {
    private static let headEnd = "Host: h\r\n\r\n"

    /// Returns the contents of a stream: each request with its body, then the refusal if there was one.
    private func read(_ pieces: [[UInt8]], headBytesMaximum: Int = 1_024, bodyBytesMaximum: Int = 64) -> [String] {
        var parser = HTTPRequestParser(headBytesMaximum: headBytesMaximum)
        var found: [String] = []
        for piece in pieces {
            parser.append(piece)
            var isWaiting = false
            while !isWaiting {
                switch parser.next() {
                case .needsMore: isWaiting = true
                case .head(let head):
                    parser.bodyBytesMaximum = bodyBytesMaximum
                    found.append("\(head.method) \(head.rawTarget) \(head.framing) ")
                case .body(let bytes): found[found.count - 1] += String(decoding: bytes, as: UTF8.self)
                case .end: parser.beginNext()
                case .refused(let refusal): return found + ["\(refusal.status)"]
                }
            }
        }
        return found
    }

    private func read(_ text: String) -> [String] { read([Array(text.utf8)]) }

    @Test("Requests follow each other, with bodies of known length, in chunks, and without")
    func pipeline() {
        let found = read(
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                + "POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "3;x=\"y z\"\r\nabc\r\n02\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
                + "\r\nGET /c HTTP/1.1\r\nhOsT: h\r\n\r\n")
        #expect(found == ["POST /a length(3) abc", "POST /b chunked abcde", "GET /c none "])
    }

    @Test(
        "What another recipient could read in another way is refused (RFC 9112)",
        arguments: [
            // Blanks and folds around names.
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 5\r\n\r\nhello",
            "GET / HTTP/1.1\r\nHost: h\r\n Content-Length: 5\r\n\r\nhello",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX(y): z\r\n\r\n",
            // Line ends.
            "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            // The request line.
            "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
            " GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / x HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /\u{0} HTTP/1.1\r\nHost: h\r\n\r\n", "G\u{0}ET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1x\r\nHost: h\r\n\r\n", "GET / http/1.1\r\nHost: h\r\n\r\n", "GET /\r\n\r\n",
            "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
            // Control characters in values.
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7f}b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{b}b\r\n\r\n",
            // Hosts.
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: \r\n\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
            // Lengths.
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: -3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3 \u{c}\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \u{663}\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551619\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
            "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "PUT / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ])
    func ambiguous(_ text: String) {
        #expect(read(text) == ["400"])
    }

    @Test(
        "A transfer coding other than chunked is not understood, whatever stands beside it",
        arguments: [
            "gzip", "gzip, chunked", "chunked, chunked", "chunked, identity", "identity", "xchunked", "chunked;q=1",
            "\"chunked\"", "chunked,", "", "chun\u{212A}ed",
        ])
    func codings(_ coding: String) {
        #expect(read("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n") == ["501"])
    }

    @Test(
        "A chunk that is not well-formed ends the connection, and its rest is no request",
        arguments: [
            "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabcX\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n",
            " 3\r\nabc\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n", "3;a\nb\r\nabc\r\n0\r\n\r\n",
            "3;a\rb\r\nabc\r\n0\r\n\r\n", "3;\u{0}\r\nabc\r\n0\r\n\r\n", "3;a\tb\r\nabc\r\n0\r\n\r\n",
            "\r\n", "x\r\n", "000000003\r\nabc\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFF\r\nabc", "-1\r\nabc\r\n0\r\n\r\n",
            "0\r\nX : y\r\n\r\n", "0\r\n folded\r\n\r\n", "0\r\nGET / HTTP/1.1\r\n\r\n", "0\r\n\n", "0\n\r\n",
            "3\r\nabc\r\n0\r\nno colon\r\n\r\n",
        ])
    func chunks(_ body: String) {
        let found = read(
            "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body
                + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(found.last == "400" && !found.contains { $0.contains("smuggled") }, "\(found)")
    }

    @Test("Every limit is kept to, to the byte")
    func limits() {
        let line = "GET /\(String(repeating: "a", count: 100)) HTTP/1.1\r\n"
        func found(_ text: String, head: Int, body: Int = 8) -> [String] {
            read([Array(text.utf8)], headBytesMaximum: head, bodyBytesMaximum: body)
        }
        let size = (line + Self.headEnd).utf8.count
        #expect(found(line + Self.headEnd, head: size).count == 1 && found(line + Self.headEnd, head: size) != ["431"])
        #expect(found(line + Self.headEnd, head: size - 1) == ["431"])
        #expect(found(line, head: line.utf8.count - 1) == ["414"])
        #expect(found(String(line.dropLast()), head: line.utf8.count - 3) == ["414"])
        let fields = String(repeating: "a: b\r\n", count: HTTPRequestParser.fieldsMaximum)
        #expect(found("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n", head: 100_000) == ["431"])
        #expect(found("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n", head: 1_000).last == "413")
        let chunked = "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(found(chunked + "8\r\n12345678\r\n0\r\n\r\n", head: 1_000).last == "PUT / chunked 12345678")
        #expect(found(chunked + "8\r\n12345678\r\n1\r\n", head: 1_000).last == "413")
        let many = String(repeating: "1\r\nx\r\n", count: 8_000)
        #expect(found(chunked + many + "0\r\n\r\n", head: 1_000, body: 8_000).last?.utf8.count == 8_014)
        let long = String(repeating: "x", count: HTTPRequestParser.chunkLinesBytesMaximum)
        #expect(found(chunked + "1;\(long)", head: 1_000).last == "400")
        #expect(found(chunked + "0\r\nX: \(long)", head: 1_000).last == "400")
    }

    @Test(
        "Other versions of HTTP, and what is not HTTP, are told apart",
        arguments: [
            ("GET / HTTP/2.0\r\n", "505"), ("PRI * HTTP/2.0\r\n", "505"), ("GET / HTTP/1.10\r\n", "505"),
            ("GET / HTTP/0.9\r\n", "505"), ("\u{16}\u{3}\u{1}", "400"), ("{\"json\": true}", "400"),
        ])
    func versions(text: String, status: String) {
        #expect(read(text) == [status])
    }

    @Test("Where a stream is cut into pieces changes nothing")
    func pieces() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "GET / HTTP/1.1\r\n", "PUT /a HTTP/1.1\r\n", "Host: h\r\n", "Content-Length: 5\r\n", "\r\n", "hello",
            "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n", "0\r\n\r\n", "3;x\r\nabc\r\n", "X: y\r\n", "\n", "\r",
            " ",
            "Expect: 100-continue\r\n",
        ]
        for _ in 0..<3_000 {
            var text = "PUT /a HTTP/1.1\r\nHost: h\r\n"
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                text += parts.randomElement(using: &generator) ?? ""
            }
            let bytes = Array(text.utf8)
            let whole = read([bytes])
            var cuts: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...max(1, min(rest.count, 7)), using: &generator)
                cuts.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(read(cuts) == whole, "seed \(seed): \(text.debugDescription)")
        }
    }

    @Test(
        "A host is a name or an address with an optional port",
        arguments: [
            ("Example.COM:443", "example.com", false), ("example.com.", "example.com", false),
            ("127.0.0.1:80", "127.0.0.1", true), ("[::1]:8080", "::1", true), ("[2001:DB8::1]", "2001:db8::1", true),
            ("1.2.3", "1.2.3", false), ("a_b-c~d", "a_b-c~d", false),
        ])
    func hosts(text: String, name: String, isAddress: Bool) {
        let host = HTTPHost(text)
        #expect(host?.name == name)
        #expect(host?.isAddress == isAddress)
    }
}
