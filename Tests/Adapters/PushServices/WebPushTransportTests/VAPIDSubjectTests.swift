import Testing
import WebPushTransport

@Suite("The subject of VAPID tokens")
struct VAPIDSubjectTests {
    @Test(
        "A mail address or a page with a public host is taken as it stands",
        arguments: [
            "mailto:push@example.com", "mailto:first.last+push@mail.chat.example.org", "https://example.com",
            "https://example.com/contact?topic=push#form", "https://example.com:8443/", "mailto:push@xn--bcher-kva.ch",
            "mailto:o'neil@example.com", "https://EXAMPLE.com", "https://a.b-c.museum",
            "https://example.test.com", "mailto:localhost@example.com", "https://local.example.com/localhost",
        ])
    func taken(_ text: String) throws {
        let subject = try VAPIDSubject(text)
        #expect(subject.text == text)
        #expect("\(subject)" == text)
    }

    @Test(
        "Another subject is refused, and the reason says which rule it breaks",
        arguments: [
            ("", "is empty"), ("push@example.com", "neither with mailto: nor with https://"),
            ("http://example.com", "neither with"), ("tel:+4912345", "neither with"),
            ("MAILTO:push@example.com", "neither"),
            ("mailto: push@example.com", "white space"), ("mailto:push@example.com\n", "white space"),
            ("mailto:<push@example.com>", "(RFC 3986)"), ("https://example.com/\"", "(RFC 3986)"),
            ("https://example.com/\\", "(RFC 3986)"), ("https://bücher.ch", "(RFC 3986)"),
            ("mailto:push@example.com\u{0}", "(RFC 3986)"),
            ("mailto:", "exactly one mail address"), ("mailto:push", "exactly one"),
            ("mailto:@example.com", "exactly one"),
            ("mailto:a@example.com,b@example.com", "exactly one"), ("mailto:a@b@example.com", "exactly one"),
            ("mailto:a@example.com?subject=push", "exactly one"),
            ("mailto:push@localhost", "reserved (.localhost)"), ("https://localhost", "reserved (.localhost)"),
            ("https://localhost:8080/", "reserved (.localhost)"), ("mailto:push@printer.local", "reserved (.local)"),
            ("https://push.invalid/", "reserved (.invalid)"), ("mailto:push@chat.test", "reserved (.test)"),
            ("mailto:push@chat.EXAMPLE", "reserved (.example)"), ("mailto:push@intranet", "local network"),
            ("https://intranet/contact", "local network"), ("https://192.0.2.1/", "is an address"),
            ("mailto:push@192.0.2.1", "is an address"), ("https://[2001:db8::1]/", "is an address"),
            ("mailto:push@[192.0.2.1]", "no DNS name"), ("https://", "no DNS name"),
            ("https:///contact", "no DNS name"), ("mailto:push@", "no DNS name"),
            ("https://example..com", "no DNS name"), ("https://example.com.", "no DNS name"),
            ("https://-a.example.com", "no DNS name"), ("https://a_b.example.com", "no DNS name"),
            ("https://user@example.com", "a user before the host"), ("https://example.com:x", "port"),
            ("https://example.com:65536", "port"),
            ("mailto:" + String(repeating: "a", count: 250) + "@b.org", "256 bytes"),
            ("https://" + String(repeating: "a", count: 64) + ".org", "no DNS name"),
        ])
    func refused(_ text: String, words: String) throws {
        let error = try #require(throws: VAPIDError.self) { _ = try VAPIDSubject(text) }
        #expect(error.code == .subjectInvalid)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.message.contains("for example mailto:"), "\(error)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }
}
