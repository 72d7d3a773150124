import PushTestKit
import Testing
import WebPushTransport

@Suite("The audience of VAPID tokens")
struct VAPIDAudienceTests {
    @Test(
        "It is the origin of the endpoint: scheme, host in small letters, port if it is not 443",
        arguments: [
            ("https://push.example.com/wpush/v2/gAAAAA", "https://push.example.com"),
            ("https://fcm.googleapis.com/fcm/send/abc:def@ghi", "https://fcm.googleapis.com"),
            ("HTTPS://Push.Example.COM/x", "https://push.example.com"),
            ("https://push.example.com", "https://push.example.com"),
            ("https://push.example.com:443/x", "https://push.example.com"),
            ("https://push.example.com:0443/x", "https://push.example.com"),
            ("https://push.example.com:8443/x", "https://push.example.com:8443"),
            ("https://wns2-par02p.notify.windows.com/w/?token=a%2fb", "https://wns2-par02p.notify.windows.com"),
            ("https://push.example.com?x=https://other.example.com/", "https://push.example.com"),
            ("https://push.example.com#@other.example.com/", "https://push.example.com"),
            ("https://127.0.0.1:4711/x", "https://127.0.0.1:4711"), ("https://[::1]:4711/x", "https://[::1]:4711"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]"), ("https://localhost:1/", "https://localhost:1"),
        ])
    func origins(_ endpoint: String, origin: String) throws {
        let audience = try VAPIDAudience(endpoint: endpoint)
        #expect(audience.origin == origin)
        #expect("\(audience)" == origin)
    }

    @Test(
        "An endpoint without an origin, or with one that can be read in two ways, is refused, and its path not shown",
        arguments: [
            "", "https:/", "https://", "http://push.example.com/secret", "push.example.com/secret", "https:///secret",
            "https://user@push.example.com/secret", "https://push.example.com\\@other.example.com/secret",
            "https://push.example.com:/secret", "https://push.example.com:0/secret",
            "https://push.example.com:65536/secret", "https://push.example.com:+443/secret",
            "https://push.example.com:443:1/secret", "https://push example.com/secret",
            "https://push.example.com\n/secret", "https://bücher.example/secret", "https://push%2eexample.com/secret",
            "https://[::1/secret", "https://[]/secret",
            "https://[::1]x/secret", "https://[]:1\u{0}/secret", "https://a\"b/secret",
            "https://" + String(repeating: "a", count: 254) + "/secret",
        ])
    func refusals(_ endpoint: String) throws {
        let error = try #require(throws: VAPIDError.self) { _ = try VAPIDAudience(endpoint: endpoint) }
        #expect(error.code == .endpointInvalid)
        #expect(!error.message.contains("secret"), "\(error)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test("Random text never crashes it, and what it takes needs no escape in JSON")
    func randomText() {
        var numbers = SeededGenerator(seed: 4)
        let pieces = [
            "https://", "a", "B", ".", ":", "443", "/", "?", "@", "[", "]", "\\", "\"", "é", "\u{0}", "-", "%41", " ",
        ]
        for _ in 0..<20_000 {
            var text = "https://"
            for _ in 0..<Int.random(in: 0...8, using: &numbers) { text += pieces.randomElement(using: &numbers) ?? "" }
            guard let audience = try? VAPIDAudience(endpoint: text) else { continue }
            #expect(audience.origin.utf8.dropFirst(8).allSatisfy { "abcdef0123456789.:[]-".utf8.contains($0) })
        }
    }
}
