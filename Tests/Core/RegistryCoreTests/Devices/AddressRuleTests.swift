import Notifications
import PushTestKit
import Testing

@testable import RegistryCore

/// The rules for addresses of devices.
struct AddressRuleTests {
    @Test(
        "An endpoint is an absolute address of https with a host",
        arguments: [
            "https://fcm.googleapis.com/fcm/send/abc:def", "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
            "https://web.push.apple.com/Q", "https://a", "https://a:8443/x?y=z@w", "https://[2001:db8::1]:443/e",
            "https://192.0.2.7/e", "https://a_b.example?x", "https://a/" + String(repeating: "x", count: 2_038),
        ])
    func endpoints(_ endpoint: String) {
        #expect(AddressRules.problem(ofEndpoint: Array(endpoint.utf8)) == nil)
    }

    @Test(
        "Any other endpoint is refused with the rule that it breaks, and is not repeated",
        arguments: [
            ("", "https://"), ("http://a/e", "https://"), ("HTTPS://a/e", "https://"), ("a/e", "https://"),
            ("wss://a/e", "https://"), ("https://", "host"), ("https:///e", "host"), ("https://?e", "host"),
            ("https://:443/e", "host"), ("https://a b/e", "ASCII"), ("https://a/\u{e9}", "ASCII"),
            ("https://a/\n", "ASCII"), ("https://mei@a/e", "user name"), ("https://mei:pw@a/e", "user name"),
            ("https://a/e#f", "fragment"), ("https://a\\b/e", "host"), ("https://a%20b/e", "host"),
            ("https://a:0/e", "port"), ("https://a:65536/e", "port"), ("https://a:/e", "port"),
            ("https://a:08/e", "port"), ("https://a:x/e", "port"), ("https://a:1:2/e", "port"),
            ("https://[::1/e", "end"), ("https://[]/e", "host"), ("https://[::1]x/e", "port"),
            ("https://[a-b]/e", "host"), ("https://a/" + String(repeating: "x", count: 2_039), "2049 bytes"),
        ])
    func badEndpoints(_ endpoint: String, _ rule: String) throws {
        let problem = try #require(AddressRules.problem(ofEndpoint: Array(endpoint.utf8)))
        #expect(problem.contains(rule), "\(problem)")
        #expect(!problem.contains("mei"))
    }

    @Test("An excerpt of an address shows too little to push to it", arguments: Platform.allCases)
    func excerpts(_ platform: Platform) throws {
        let token = try SampleAddress.make(platform, "secretsecretsecret", bytes: 100)
        let excerpt = token.excerpt(for: platform)
        #expect(!excerpt.contains("secretsecret") && excerpt.contains("100"), "\(excerpt)")
        #expect(!"\(token)".contains("secretsecret"))
        switch platform {
        case .apns, .apnsSandbox, .courier: #expect(excerpt == "73656372…(100 bytes)")
        case .gcm, .adm: #expect(excerpt == "secretse…(100 characters)")
        case .webPush: #expect(excerpt == "push.example…(100 bytes)")
        }
    }
}
