import PushTestKit
import Testing

@testable import ServiceClient

@Suite("HTTP proxy: its URL and its answer")
struct HTTPProxyTests {
    @Test(
        "A URL is read with or without credentials and port",
        arguments: [
            ("http://proxy.example:3128", "proxy.example:3128", nil),
            ("http://proxy.example", "proxy.example:80", nil),
            ("HTTP://[::1]:8080/", "[::1]:8080", nil),
            ("http://Aladdin:open%20sesame@10.0.0.1:1", "10.0.0.1:1", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("http://me:p%40ss%3a%2F@h:1", "h:1", "Basic bWU6cEBzczov"),
            ("http://me:%ff%fe@h:1", "h:1", "Basic bWU677+977+9"),
            ("http://me@h:1", "h:1", "Basic bWU6"),
        ] as [(String, String, String?)])
    func readsURLs(url: String, description: String, authorization: String?) throws {
        let proxy = try HTTPProxy(url: url)
        #expect(proxy.description == description)
        #expect(proxy.authorization == authorization)
    }

    @Test(
        "A URL that cannot be used is refused without a word of it",
        arguments: [
            "", "s3cr3t", "https://me:s3cr3t@h", "socks5://me:s3cr3t@h", "http://", "http://me:s3cr3t@",
            "http://me:s3cr3t@h:0", "http://me:s3cr3t@h:70000", "http://me:s3cr3t%@h", "http://me:s3cr3t%zz@h",
            "http://me:s3cr3t@x@h", "http://me:s3cr3t@h/path", "http://me%3as3cr3t@h", "http://h\r\nX: s3cr3t:80",
            "http://a:b:c", "http://[::1",
        ])
    func refusesURLs(url: String) {
        do throws(ServiceError) {
            _ = try HTTPProxy(url: url)
            Issue.record("\(url) was accepted")
        } catch {
            #expect(error.code == .proxyInvalid)
            #expect(!error.message.contains("s3cr3t"))
        }
    }

    @Test("No way of printing a proxy shows its credentials")
    func hidesCredentials() throws {
        let proxy = try HTTPProxy(url: "http://me:s3cr3t@h:1")
        var dumped = ""
        dump(proxy, to: &dumped)
        for text in ["\(proxy)", String(reflecting: proxy), dumped, "\([proxy])"] {
            #expect(!text.contains("s3cr3t") && !text.contains("Basic"), "\(text)")
        }
    }

    private func verdict(_ text: String, in pieces: Int) -> ProxyAnswer.Verdict {
        var answer = ProxyAnswer()
        var rest = Array(text.utf8)[...]
        while true {
            let verdict = answer.add(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            if verdict != .incomplete || rest.isEmpty { return verdict }
        }
    }

    @Test(
        "An answer is understood however it is cut into pieces",
        arguments: [
            ("HTTP/1.1 200 Connection established\r\n\r\n", .established),
            ("HTTP/1.0 200\r\nVia: 1.1 x\r\nX-Empty:\r\n\r\n", .established),
            ("HTTP/1.1 204 \n\n", .established),
            (
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n<html>",
                .refused(status: 407, reason: "Proxy Authentication Required")
            ),
            ("HTTP/1.1 403\r\n\r\n", .refused(status: 403, reason: "")),
            ("HTTP/1.1 502 Bad\u{1b}[31m\r\n\r\n", .refused(status: 502, reason: "Bad[31m")),
            ("HTTP/1.1 200 OK\r\nVia: x\r\n", .incomplete),
            ("HTTP/1", .incomplete),
            ("SSH-2.0-OpenSSH_9.2\r\n", .garbage("it does not speak HTTP")),
            ("HTTP/2 200 OK\r\n\r\n", .garbage("it does not speak HTTP")),
            ("HTTP/1.1 abc OK\r\n\r\n", .garbage("it does not speak HTTP")),
            ("HTTP/1.1\r\n\r\n", .garbage("it does not speak HTTP")),
            ("\r\n\r\n", .garbage("it does not speak HTTP")),
        ] as [(String, ProxyAnswer.Verdict)])
    func readsAnswers(text: String, verdict: ProxyAnswer.Verdict) {
        for pieces in 1...text.utf8.count { #expect(self.verdict(text, in: pieces) == verdict) }
    }

    @Test("Bytes after the head of an answer that makes a tunnel, and a head without end, are refused")
    func refusesExtraBytes() {
        #expect(
            verdict("HTTP/1.1 200 OK\r\n\r\nx", in: 100) == .garbage("it sent bytes before the tunnel was used"))
        let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 5_000)
        #expect(verdict(endless, in: 4_096) == .garbage("its answer does not end"))
    }

    @Test("Random bytes never trap")
    func toleratesRandomBytes() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let pieces = ["HTTP/1.1", " 200", " 4O7", "\r\n", "\n", "\r", ": ", "x", "\u{0}", "é"]
        for _ in 0..<5_000 {
            var answer = ProxyAnswer()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let piece = pieces.randomElement(using: &random) ?? ""
                if answer.add(piece.utf8) != .incomplete { break }
            }
        }
    }
}
