import Essentials
import JSON
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

/// Devices of every platform, as the native API takes and shows them.
@Suite("Addresses of devices in the native API", .ownThread)
struct DeviceAddressTests {
    private static let endpoint = "https://fcm.googleapis.com/fcm/send/eXampl3:APA91b"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    private static let google = "cKb0eXampl3:APA91bF-token_of_google"
    private static let installation = "cRGsb7Zy60eXlDS9qw1T2-"

    private func body(_ platform: String, _ members: String) -> String {
        #"{"platform":"\#(platform)","app":"chat",\#(members)}"#
    }

    private func subscription(
        endpoint: String = endpoint, end: String = "null", p256dh: String = SampleAddress.publicKeys[0],
        auth: String = secret
    ) -> String {
        #""subscription":{"endpoint":"\#(endpoint)","expirationTime":\#(end),"#
            + #""keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    }

    @Test("A device of each service is put, shown without its secrets, and kept whole")
    func putAndShown() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let long = String(repeating: "a", count: 2_048)
        for (name, body, shown) in [
            (
                "google", body("GCM", #""token":"\#(Self.google)""#),
                #""token":"cKb0eXam…(35 characters)","target":"token""#
            ),
            (
                "fid", body("GCM", #""token":"\#(Self.installation)""#),
                #""token":"cRGsb7Zy…(22 characters)","target":"fid""#
            ),
            ("told", body("GCM", #""token":"told","target":"fid""#), #""token":"to…(4 characters)","target":"fid""#),
            ("amazon", body("ADM", #""token":"\#(long)""#), #""token":"aaaaaaaa…(2048 characters)""#),
            ("browser", body("WEB_PUSH", subscription(end: "9e12")), #""token":"fcm.googleapis.com…(50 bytes)""#),
        ] {
            let put = client.send("PUT", "/v1/devices/\(name)", body)
            #expect(put.status == 201 && put.body.contains(shown), "\(put)")
            #expect(!put.body.contains("APA91b") && !put.body.contains(Self.secret))
            #expect(client.send("PUT", "/v1/devices/\(name)", body).status == 200)
            #expect(client.send("GET", "/v1/devices/\(name)").body.contains(shown))
        }
        #expect(client.send("GET", "/v1/devices/browser").body.contains(#""expiresAt":9000000000000"#))
        let registry = try fixture.registry()
        #expect(try registry.device("google")?.token.text(for: .gcm) == Self.google)
        #expect(try registry.device("google")?.token.details == nil)
        #expect(try registry.device("fid")?.token.details?.isInstallationID == true)
        #expect(try registry.device("amazon")?.token.bytes == Array(long.utf8))
        let browser = try #require(try registry.device("browser")?.token)
        #expect(
            browser.text(for: .webPush) == Self.endpoint && browser.details?.expiresAtMilliseconds == 9_000_000_000_000)
        #expect(browser.details?.webPushKeys.map { Base64URL.encode($0.publicKey) } == SampleAddress.publicKeys[0])
        #expect(browser.details?.webPushKeys.map { Base64URL.encode($0.authenticationSecret) } == Self.secret)
    }

    @Test("The keys of a browser come in base64 of either alphabet, with padding or without")
    func base64() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let forms = [SampleAddress.publicKeys[1], Self.secret].map {
            $0.replacing("-", with: "+").replacing("_", with: "/")
        }
        client.send("PUT", "/v1/devices/a", body("WEB_PUSH", subscription(p256dh: SampleAddress.publicKeys[1])))
        let other = body(
            "WEB_PUSH", subscription(endpoint: Self.endpoint + "/2", p256dh: forms[0] + "=", auth: forms[1] + "=="))
        #expect(client.send("PUT", "/v1/devices/b", other).status == 201)
        let registry = try fixture.registry()
        #expect(
            try registry.device("a")?.token.details?.webPushKeys == registry.device("b")?.token.details?.webPushKeys)
    }

    @Test("What a browser adds to its JSON in times to come is ignored")
    func unknownMembers() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let members = subscription().replacing(#""keys":{"#, with: #""new":[1],"keys":{"mlkem":"x","#)
        #expect(try NativeClient(fixture).send("PUT", "/v1/devices/d", body("WEB_PUSH", members)).status == 201)
    }

    @Test("An endpoint belongs to one device, and its renewed keys replace the old ones")
    func renewed() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        client.send("PUT", "/v1/devices/a", body("WEB_PUSH", subscription()))
        client.send("PUT", "/v1/devices/a", body("WEB_PUSH", subscription(p256dh: SampleAddress.publicKeys[1])))
        let key = try #require(try fixture.registry().device("a")?.token.details?.webPushKeys?.publicKey)
        #expect(Base64URL.encode(key) == SampleAddress.publicKeys[1])
        client.send("PUT", "/v1/devices/b", body("WEB_PUSH", subscription()))
        #expect(client.send("GET", "/v1/devices/a").status == 404)
    }

    @Test(
        "What is wrong with an address is said, and nothing is kept",
        arguments: [
            ("GCM", #""token":"a b""#, #"\"token\": it must be printable"#),
            ("ADM", #""token":"""#, "it has 0 bytes"),
            ("ADM", #""token":"\#(String(repeating: "x", count: 2_049))""#, "it has 2049 bytes"),
            ("ADM", #""token":"a","target":"token""#, "only tokens of GCM have a target"),
            ("GCM", #""token":"a","target":"topic""#, #"its target is token or fid, not \"topic\""#),
            ("GCM", #""token":7"#, #"\"token\" has to be a string"#),
            ("WEB_PUSH", #""token":"a""#, #"\"token\" is not for WEB_PUSH"#),
            ("WEB_PUSH", #""app":"chat""#, "twice"), ("WEB_PUSH", #""userId":"mei""#, #"\"subscription\" is missing"#),
            ("APNS", #""token":"ab","subscription":{}"#, #"\"subscription\" is not for APNS"#),
            ("GCM", #""token":"ab","applicationServerKey":"x""#, #"\"applicationServerKey\" is not for GCM"#),
            ("WEB_PUSH", #""subscription":"x""#, "toJSON() returns, not string"),
            ("WEB_PUSH", #""subscription":{"endpoint":"https://a/"}"#, #"no object \"keys\""#),
            ("WEB_PUSH", #""subscription":{"endpoint":7,"keys":{}}"#, #"no string \"endpoint\""#),
            ("WEB_PUSH", #""subscription":{"endpoint":"https://a/","keys":{"auth":"x"}}"#, #"no string \"p256dh\""#),
            ("FCM", #""token":"a""#, "APNS, APNS_SANDBOX, GCM, ADM, WEB, WEB_PUSH"),
        ])
    func refused(_ platform: String, _ members: String, _ reason: String) throws {
        try refuse(body(platform, members), reason)
    }

    @Test(
        "A subscription that cannot be pushed to is refused, by the part that is wrong",
        arguments: [
            (("endpoint", "http://push.example/secret"), #"\"endpoint\" is refused: it must begin with https://"#),
            (("endpoint", "https://mei@push.example/secret"), "user name"),
            (("expirationTime", "-1"), "milliseconds since 1970"), (("expirationTime", "\"x\""), "milliseconds"),
            (("expirationTime", "1e12"), "it ended at 2001-09-09T01:46:40.000Z; the page must subscribe again"),
            (("auth", "BTBZMqHH6r4Tts7J_aSI"), #"its \"keys.auth\" must have 16 bytes, and it has 15"#),
            (("auth", "BTBZMqHH6r4Tts7J_aSIgh"), #"\"keys.auth\" is no base64url"#),
            (("auth", "§"), #"\"keys.auth\" is no base64url"#),
            (("p256dh", "BCVx"), "must have 65 bytes, and it has 3"),
            (("p256dh", "A" + String(SampleAddress.publicKeys[0].dropFirst())), "begins with the byte 04"),
            (("p256dh", String(SampleAddress.publicKeys[0].dropLast(2)) + "g4"), "no point of the curve P-256"),
        ])
    func badSubscriptions(_ change: (String, String), _ reason: String) throws {
        var members = subscription()
        switch change.0 {
        case "endpoint": members = subscription(endpoint: change.1)
        case "expirationTime": members = subscription(end: change.1)
        case "auth": members = subscription(auth: change.1)
        default: members = subscription(p256dh: change.1)
        }
        try refuse(body("WEB_PUSH", members), reason)
    }

    private func refuse(_ body: String, _ reason: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let answer = try NativeClient(fixture).send("PUT", "/v1/devices/d", body)
        #expect(answer.status == 400 && answer.body.contains(reason), "\(answer.body)")
        #expect(!answer.body.contains("secret"))
        #expect(try fixture.registry().deviceCount() == 0)
    }

    @Test("A subscription at a host that no push goes to is refused, if the server knows the rule")
    func hosts() throws {
        let fixture = try RegistryFixture { $0.apps[0].pushHosts = PushHostRule() }
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        func put(_ endpoint: String) -> PlainHTTP.Answer {
            client.send("PUT", "/v1/devices/d", body("WEB_PUSH", subscription(endpoint: endpoint)))
        }
        for host in ["127.1", "0x7f000001", "[::ffff:127.0.0.1]", "localhost", "push.example.com:8443"] {
            let answer = put("https://\(host)/secret")
            #expect(answer.status == 400 && answer.body.contains(#"\"endpoint\" is refused: its "#), "\(answer.body)")
            #expect(!answer.body.contains("secret"))
        }
        #expect(put("https://push.example.com/send/x").status == 201)
    }

    @Test("The key that a page subscribed with must be the app's, if the app has one")
    func applicationServerKeys() throws {
        let key = try #require(Base64URL.decode(SampleAddress.publicKeys[0]))
        let fixture = try RegistryFixture { $0.apps[0].applicationServerKeys = [key] }
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        func put(_ key: String, app: String = "chat") -> PlainHTTP.Answer {
            let members = subscription() + #","applicationServerKey":"\#(key)""#
            return client.send(
                "PUT", "/v1/devices/\(app)", body("WEB_PUSH", members).replacing(#""chat""#, with: #""\#(app)""#))
        }
        let foreign = put(SampleAddress.publicKeys[1])
        #expect(foreign.status == 400 && foreign.body.contains("are not signed with; it must use the app's"))
        #expect(put("BCVx").body.contains(#"\"applicationServerKey\": it must have 65 bytes"#))
        #expect(put(SampleAddress.publicKeys[0]).status == 201)
        #expect(client.send("PUT", "/v1/devices/chat", body("WEB_PUSH", subscription())).status == 200)
        #expect(put(SampleAddress.publicKeys[1], app: "mail").status == 201, "this app has none yet")
    }
}
