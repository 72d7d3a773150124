import JSON
import Notifications
import Testing

@Suite("What push services explain")
struct ServiceExplanationTests {
    private static func explanation(_ body: String, reason: String = "") -> String? {
        let parser = JSONParser(depthMaximum: 8)
        return ServiceExplanation.body(Array(body.utf8), try? parser.parse(body), reason: reason)
    }

    @Test(
        "The sentence of a document, the title of a page, or a text is the explanation",
        arguments: [
            ("invalid urgency header defined.", "invalid urgency header defined."),
            (#"{"code":400,"errno":110,"error":"Bad Request","message":"Invalid TTL"}"#, "Invalid TTL"),
            (#"{"error":{"code":403,"message":"The API is disabled."}}"#, "The API is disabled."),
            (#"{"error":"invalid_request","error_description":"No such key"}"#, "No such key"),
            (#"{"code":7,"text":"Seven"}"#, #"{"code":7,"text":"Seven"}"#),
            ("<html>\n<head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "502 Bad Gateway"),
            ("<html><body>sorry", "<html><body>sorry"), ("  two\r\n\tlines \n", "two lines"),
            ("", nil), (" \n", nil), ("{}", nil), ("[1]", nil),
        ])
    func sentences(body: String, expected: String?) { #expect(Self.explanation(body) == expected) }

    @Test("A document that says only the reason explains nothing")
    func onlyReason() {
        #expect(Self.explanation(#"{"reason":"InvalidData"}"#, reason: "InvalidData") == nil)
        #expect(Self.explanation(#"{"error":"Gone"}"#, reason: "Gone") == nil)
        #expect(Self.explanation(#"{"reason":"InvalidData","message":"No"}"#, reason: "InvalidData") == "No")
    }

    @Test("An explanation is on one line, printable and short, whatever a service says")
    func harmless() throws {
        let hostile = "a\u{1b}[2J\u{202e}b\u{0}c\u{2028}d" + String(repeating: "é ", count: 5_000)
        let text = try #require(ServiceExplanation.text(hostile))
        #expect(text.hasPrefix(#"a [2J\u202eb c d"#), "\(text)")
        #expect(text.utf8.count <= ServiceExplanation.bytesMaximum + "…".utf8.count && text.hasSuffix("…"))
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
    }

    @Test(
        "A word that may be a token, a key or a signature is cut; codes, fields and addresses are not",
        arguments: [
            ("token 00fc13adff785122b4ad28809a342098 is bad", "token 00fc13ad… is bad"),
            ("got abcdefgh:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx", "got abcdefgh:APA91bHu…"),
            ("vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQ", "vapid t=eyJ0eX….eyJhdWQ"),
            ("CONSUMER_PROJECT_WITHOUT_BILLING_ACCOUNT", "CONSUMER_PROJECT_WITHOUT_BILLING_ACCOUNT"),
            (
                "at 'message.android.notification.click_action' (TYPE_STRING)",
                "at 'message.android.notification.click_action' (TYPE_STRING)"
            ),
            (
                "Enable it by visiting https://console.developers.google.com/apis/api/fcm.googleapis.com?project=123",
                "Enable it by visiting https://console.developers.google.com/apis/api/fcm.googleapis.com?project=123"
            ),
        ])
    func secrets(text: String, expected: String) { #expect(ServiceExplanation.text(text) == expected) }

    @Test("A token that a service repeats does not stand whole in a text, however short it is")
    func tokens() throws {
        let token = try #require(DeviceToken(text: Array("tok:short1".utf8)))
        #expect(token.hidden(in: "tok:short1 is no token", for: .gcm) == "tok:s…(10 characters) is no token")
        let apple = try #require(DeviceToken(hexadecimal: "00fc13adff"))
        #expect(!apple.hidden(in: "bad 00fc13adff", for: .apns).contains("13adff"))
        let browser = try #require(DeviceToken(text: Array("https://push.example/up?a=secret12".utf8)))
        for text in ["https://push.example/up?a=secret12 gone", "unknown /up?a=secret12"] {
            #expect(!browser.hidden(in: text, for: .webPush).contains("secret12"))
        }
    }
}
