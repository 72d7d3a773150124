import Notifications
import PushTestKit
import Testing

@testable import WebPushTransport

@Suite("Web Push: the origins of the last endpoints")
struct RecentOriginsTests {
    private static let origins = [
        "https://push.example.com", "https://push.example.com:443", "https://push.example.com.evil.org",
        "https://push.example.co", "https://push.example.com:8443", "https://[::1]", "https://[::1]:8443",
        "HTTPS://PUSH.example.com", "https://a.notify.windows.com", "https://b.notify.windows.com", "https://push",
        "https://fcm.googleapis.com",
    ]
    private static let ends = ["", "/", "?a", "#b", "/send/abc", "?x=/y", "#/z", ".org/send", ":1/send"]

    @Test("An endpoint has the same origin whether it is parsed or found, whatever came before it")
    func equalsParsing() throws {
        var random = SeededGenerator(seed: 7)
        var recent = RecentOrigins()
        var foundCount = 0
        for _ in 0..<20_000 {
            let text =
                (Self.origins.randomElement(using: &random) ?? "") + (Self.ends.randomElement(using: &random) ?? "")
            let token = try #require(DeviceToken(text: Array(text.utf8)))
            let parsed = WebPushOrigin(token)
            if let found = recent.entry(of: token) {
                foundCount += 1
                let parsed = try #require(parsed, "\(text)")
                #expect(found.origin.audience == parsed.audience && found.origin.host == parsed.host, "\(text)")
                #expect(
                    found.origin.port == parsed.port && (found.standing == .named) == (parsed.port == 443), "\(text)")
            } else if let parsed {
                _ = recent.add(parsed, of: token, parsed.port == 443 ? .named : .stranger, isAllowed: true)
            }
        }
        #expect(foundCount > 1_000)
    }

    @Test("The origin that was added first gives its place to a ninth one")
    func replacement() throws {
        var recent = RecentOrigins()
        let tokens = try (0...RecentOrigins.entriesMaximum).map { number in
            try #require(DeviceToken(text: Array("https://push\(number).example.com/send".utf8)))
        }
        for token in tokens {
            _ = recent.add(try #require(WebPushOrigin(token)), of: token, .named, isAllowed: false)
        }
        #expect(recent.entry(of: tokens[0]) == nil)
        for token in tokens.dropFirst() { #expect(recent.entry(of: token)?.isAllowed == false) }
    }
}
