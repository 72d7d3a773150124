import FoundationEssentials
import Testing
import WebPush

@Suite("Web Push subscriptions, keys and messages: what is refused before anything is sent")
struct WebPushSubscriptionTests {
    // The receiver of RFC 8291 appendix A.
    private static let endpoint = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV"
    private static let p256dh =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

    private static func error(_ body: () throws -> Void) -> PushError? {
        do {
            try body()
            return nil
        } catch { return error as? PushError }
    }

    private static func decoded(_ json: String) throws -> WebPushSubscription {
        try JSONDecoder().decode(WebPushSubscription.self, from: Data(json.utf8))
    }

    @Test("What a browser writes is read, whatever else it holds, and is written as it was")
    func decodes() throws {
        let json =
            #"{"endpoint":"\#(Self.endpoint)","expirationTime":1900000000000.5,"later":[1],"#
            + #""keys":{"p256dh":"\#(Self.p256dh)","auth":"\#(Self.auth)","more":1}}"#
        let subscription = try Self.decoded(json)
        #expect(subscription.endpoint == Self.endpoint && subscription.p256dh == Self.p256dh)
        #expect(subscription.auth == Self.auth)
        #expect(subscription.expirationTime == Date(timeIntervalSince1970: 1_900_000_000))
        let encoded = try JSONEncoder().encode(subscription)
        #expect(try JSONDecoder().decode(WebPushSubscription.self, from: encoded) == subscription)
        let endless = try Self.decoded(
            #"{"endpoint":"\#(Self.endpoint)","expirationTime":null,"keys":{"p256dh":"\#(Self.p256dh)","#
                + #""auth":"\#(Self.auth)"}}"#)
        #expect(endless.expirationTime == nil && endless != subscription)
        let late = try WebPushSubscription(
            endpoint: Self.endpoint, p256dh: Self.p256dh, auth: Self.auth,
            expirationTime: Date(timeIntervalSince1970: .infinity))
        #expect(late.expirationTime == Date(timeIntervalSince1970: 253_402_300_799))
        for seconds in [-1, -Double.infinity, .nan] {
            let error = Self.error {
                _ = try WebPushSubscription(
                    endpoint: Self.endpoint, p256dh: Self.p256dh, auth: Self.auth,
                    expirationTime: Date(timeIntervalSince1970: seconds))
            }
            #expect(error?.code == .tokenInvalid)
        }
        #expect(!"\(subscription)".contains("JzLQ3raZ") && "\(subscription)".contains("push.example.net"))
    }

    @Test("Base64 of either alphabet is read, with or without padding")
    func readsBase64() throws {
        let standard = Self.p256dh.replacing("-", with: "+").replacing("_", with: "/") + "="
        let subscription = try WebPushSubscription(endpoint: Self.endpoint, p256dh: standard, auth: Self.auth + "==")
        #expect(subscription.p256dh == Self.p256dh && subscription.auth == Self.auth)
    }

    @Test("A wrong member is named with its rule, and neither the path nor a key is repeated")
    func refusesSubscriptions() throws {
        var offCurve = Array(Self.p256dh)
        offCurve[40] = offCurve[40] == "A" ? "B" : "A"
        let cases: [(String, String, String, String)] = [
            ("endpoint", "http://push.example.net/secret", Self.p256dh, Self.auth),
            ("endpoint", "https://user@push.example.net/secret", Self.p256dh, Self.auth),
            ("endpoint", "https://push.example.net/secret#x", Self.p256dh, Self.auth),
            ("endpoint", "https://push.example.net/sec ret", Self.p256dh, Self.auth),
            ("endpoint", "https://push.example.net/" + String(repeating: "s", count: 2_048), Self.p256dh, Self.auth),
            ("endpoint", "", Self.p256dh, Self.auth), ("keys.p256dh is no base64url", Self.endpoint, "ä", Self.auth),
            ("keys.p256dh has 16 bytes, and must have 65", Self.endpoint, Self.auth, Self.auth),
            ("curve", Self.endpoint, String(offCurve), Self.auth),
            ("keys.auth is no base64url", Self.endpoint, Self.p256dh, "!"),
            ("keys.auth has 65 bytes, and must have 16", Self.endpoint, Self.p256dh, Self.p256dh),
        ]
        for (words, endpoint, p256dh, auth) in cases {
            let error = Self.error { _ = try WebPushSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth) }
            #expect(error?.code == .tokenInvalid && error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("secret") == false && error?.message.contains(Self.auth) == false)
        }
        let json = #"{"endpoint":"\#(Self.endpoint)","keys":{"p256dh":"\#(String(offCurve))","auth":"\#(Self.auth)"}}"#
        #expect(throws: DecodingError.self) { try Self.decoded(json) }
        #expect(throws: DecodingError.self) { try Self.decoded(#"{"endpoint":"\#(Self.endpoint)"}"#) }
    }

    @Test("A key is read from PEM text and from base64url, gives the page its public half, and never prints")
    func readsKeys() throws {
        let key = try VAPIDKey.generate()
        #expect(try VAPIDKey(key.pem).applicationServerKey == key.applicationServerKey)
        #expect(key.applicationServerKey.utf8.count == 87 && key.applicationServerKey.hasPrefix("B"))
        // The application server of RFC 8291 appendix A.
        let raw = try VAPIDKey("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
        #expect(
            raw.applicationServerKey
                == "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
        var text = ""
        dump(key, to: &text)
        #expect(!text.contains("BEGIN") && !"\(key)".contains("BEGIN"))
        for text in ["", "no key", key.applicationServerKey] {
            #expect(Self.error { _ = try VAPIDKey(text) }?.code == .keyInvalid)
        }
        #expect(Self.error { _ = try VAPIDKey(file: "/nonexistent/vapid.pem") }?.code == .keyInvalid)
    }

    @Test("Configurations that cannot work are refused, each with what is wrong")
    func refusesConfigurations() async throws {
        let good = WebPushConfiguration(key: try VAPIDKey.generate(), subject: "mailto:push@example.com")
        let changes: [(inout WebPushConfiguration) -> Void] = [
            { $0.subject = "" }, { $0.subject = "push@example.com" }, { $0.subject = "https://localhost/" },
            { $0.proxyURL = "socks5://secret@proxy" }, { $0.extraTrustAnchorsFile = "/nonexistent/anchor.pem" },
            { $0.timeout = .zero },
        ]
        for (index, change) in changes.enumerated() {
            var configuration = good
            change(&configuration)
            let error = Self.error { _ = try WebPushClient(configuration) }
            #expect(error?.code == .configurationInvalid, "case \(index)")
            #expect(error?.message.contains("secret") == false)
        }
        await (try WebPushClient(good)).close()
    }

    @Test("Messages that no push service takes are refused when they are made, and say which rule they break")
    func refusesMessages() {
        let attempts: [(String, () throws -> WebPushMessage)] = [
            ("3994 bytes", { try WebPushMessage([UInt8](repeating: 0, count: 3_994)) }),
            ("encoded as JSON", { try WebPushMessage(json: [Double.nan]) }),
            ("four weeks", { try WebPushMessage([1], timeToLive: .seconds(2_419_201)) }),
            ("topic has 0 bytes", { try WebPushMessage([1], topic: "") }),
            ("topic has 5 bytes", { try WebPushMessage([1], topic: "abcde") }),
            ("other characters", { try WebPushMessage([1], topic: "ab.d") }),
            ("topic has 34 bytes", { try WebPushMessage([1], topic: String(repeating: "a", count: 34)) }),
        ]
        for (words, attempt) in attempts {
            let error = Self.error { _ = try attempt() }
            #expect(error?.code == .messageInvalid && error?.message.contains(words) == true, "\(words)")
        }
    }
}
