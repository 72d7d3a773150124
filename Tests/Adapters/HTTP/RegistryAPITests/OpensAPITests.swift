import ChangeEvents
import Essentials
import EventLoop
import JSON
import PushTestKit
import RegistryCore
import TestTraits
import Testing

@testable import RegistryAPI

@Suite("Devices report opened pushes", .ownThread)
struct OpensAPITests {
    private static let campaign = CampaignKey(app: "chat", name: "spring")
    private static let tooMany = """
        {"deviceId":"phone","token":"ab01","receipts":[\(Array(repeating: "\"a\"", count: 101).joined(separator: ","))]}
        """
    private let fixture: RegistryFixture
    private let client: NativeClient
    private let mac: ReceiptAuthentication

    init() throws { try self.init(RegistryFixture()) }

    private init(_ fixture: RegistryFixture) throws {
        self.fixture = fixture
        client = try NativeClient(fixture)
        mac = .ofServers(with: try fixture.registry().courierKey())
        client.send("PUT", "/v1/devices/phone", #"{"platform":"APNS","token":"ab01","app":"chat"}"#)
        client.send("PUT", "/v1/devices/tablet", #"{"platform":"APNS","token":"ab02","app":"chat"}"#)
    }

    private func receipt(
        _ number: Int, of campaign: CampaignKey = campaign, daysAgo: Int64 = 0
    ) throws -> String {
        let hour = CampaignRules.hour(ofMilliseconds: WallClock.nowMilliseconds()) - daysAgo * 24
        let event = EventDigest(source: "/shop", identifier: "\(number)")
        return try #require(OpenReceipt(campaign: campaign, event: event, hour: hour).text(mac: mac))
    }

    /// Reports without a token of the API, and gives the results.
    private func report(
        _ receipts: [String], device: String = "phone", token: String = "ab01",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let list = receipts.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = client.with(token: nil).send(
            "POST", "/v1/opens", #"{"deviceId":"\#(device)","token":"\#(token)","receipts":[\#(list)]}"#,
            type: "application/json", sourceLocation: sourceLocation)
        #expect(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
        return try #require(try JSONParser().parse(answer.body)["results"]?.array?.compactMap(\.string))
    }

    private func opened(_ campaign: CampaignKey = campaign) throws -> Int64 {
        try fixture.registry().campaignSlices(campaign, hours: 0 ... .max).map(\.counts.opened).reduce(0, +)
    }

    @Test("An open counts once, though it is reported twice, in one report or in two")
    func once() throws {
        let receipts = [try receipt(1), try receipt(2), try receipt(1)]
        #expect(try report(receipts) == ["counted", "counted", "repeated"])
        #expect(try report(receipts) == ["repeated", "repeated", "repeated"])
        #expect(try opened() == 2)
        #expect(try report([try receipt(1)], device: "tablet", token: "AB02") == ["counted"])
        #expect(try opened() == 3)
    }

    @Test("A receipt that is changed in one character is refused, and the others of the report count")
    func changed() throws {
        let right = try receipt(1)
        let changed = right.indices.map { index in
            right[..<index] + (right[index] == "A" ? "B" : "A") + right[right.index(after: index)...]
        }
        #expect(try Set(report(changed.map(String.init))) == ["invalid"])
        #expect(try report([String(changed[5]), "", "none", right]) == ["invalid", "invalid", "invalid", "counted"])
        #expect(try opened() == 1)
    }

    @Test("A right receipt counts for nobody but a device with its token, and of the campaign's app")
    func otherDevices() throws {
        let receipt = try receipt(1)
        for (device, token) in [("phone", "ab02"), ("nobody", "ab01"), ("phone", "x"), ("tablet", "ab01")] {
            #expect(try report([receipt], device: device, token: token) == ["unknown-device"])
        }
        let mail = CampaignKey(app: "mail", name: "spring")
        #expect(try report([try self.receipt(1, of: mail), receipt]) == ["unknown-device", "counted"])
        #expect(try opened() == 1)
        #expect(try opened(mail) == 0)
    }

    @Test("Devices of every platform report with the address that they were registered with")
    func platforms() throws {
        let key = SampleAddress.publicKeys[0]
        let subscription =
            #"{"endpoint":"https://push.example/a","keys":{"p256dh":"\#(key)","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#
        let devices = [
            (#""platform":"GCM","token":"cKb0eXampl3:APA91bF-token""#, "cKb0eXampl3:APA91bF-token"),
            (#""platform":"ADM","token":"amzn1.adm""#, "amzn1.adm"),
            (#""platform":"WEB_PUSH","subscription":\#(subscription)"#, "https://push.example/a"),
            (#""platform":"APNS","token":"aa","tokens":{"voip":"bb"}"#, "bb"),
        ]
        for (number, (address, token)) in devices.enumerated() {
            let made = client.send("PUT", "/v1/devices/d\(number)", #"{"app":"chat",\#(address)}"#)
            #expect(made.status == 201, "\(made)")
            #expect(try report([try receipt(1)], device: "d\(number)", token: token) == ["counted"], "\(address)")
        }
        #expect(try opened() == 4)
    }

    @Test("A receipt is good for ninety days")
    func expiry() throws {
        #expect(
            try report([try receipt(1, daysAgo: 89), try receipt(2, daysAgo: 91)]) == ["counted", "expired"])
        #expect(try report([try receipt(2, daysAgo: 91)]) == ["expired"])
    }

    @Test("A receipt is good for no longer than reports are kept, so that none counts again")
    func expiryWithReports() throws {
        let short = try OpensAPITests(RegistryFixture { $0.opensKeptHours = 24 })
        #expect(
            try short.report([short.receipt(1), short.receipt(2, daysAgo: 1), short.receipt(3, daysAgo: 2)])
                == ["counted", "counted", "expired"])
        let long = try OpensAPITests(RegistryFixture { $0.opensKeptHours = 87_600 })
        #expect(
            try long.report([long.receipt(1, daysAgo: 89), long.receipt(2, daysAgo: 91)]) == ["counted", "expired"])
    }

    @Test(
        "A report that is not as it has to be is refused",
        arguments: [
            "", "{}", "[]", #"{"deviceId":"phone","token":"ab01"}"#,
            #"{"deviceId":"phone","token":"ab01","receipts":[]}"#,
            #"{"deviceId":"phone","token":"ab01","receipts":[1]}"#,
            #"{"deviceId":"phone","token":"","receipts":["a"]}"#, #"{"deviceId":"","token":"a","receipts":["a"]}"#,
            #"{"deviceId":"phone","token":"ab01","receipts":["a"],"app":"chat"}"#, tooMany,
        ])
    func malformed(body: String) {
        #expect(client.with(token: nil).send("POST", "/v1/opens", body).status == 400)
    }

    @Test("A report that is too long or of another type is refused, and a hundred receipts fit")
    func sizes() throws {
        let receipts = try (0..<OpensAPI.receiptsMaximum).map { try receipt($0) }
        #expect(Set(try report(receipts)) == ["counted"])
        let anonymous = client.with(token: nil)
        let long = String(repeating: "x", count: Route.smallBodyBytes)
        #expect(anonymous.send("POST", "/v1/opens", "\"\(long)\"").status == 413)
        #expect(anonymous.send("POST", "/v1/opens", "{}", type: "text/plain").status == 415)
    }

    @Test("An address that reports too often has to wait, and so has a device")
    func rate() throws {
        let slow = try RegistryFixture { $0.requestsPerSecondMaximum = 1 }
        let body = #"{"deviceId":"phone","token":"ab01","receipts":["none"]}"#
        let client = try NativeClient(slow).with(token: nil)
        let answers = (0..<20).map { _ in client.send("POST", "/v1/opens", body) }
        let refused = answers.filter { $0.status == 429 }
        #expect(!refused.isEmpty && answers.contains { $0.status == 200 })
        #expect(refused.allSatisfy { $0.headers["retry-after"] != nil })
        #expect(refused.allSatisfy { $0.headers["access-control-allow-origin"] == "*" })
    }

    @Test("Scripts of every page may report and read the answer, but use nothing else of the API")
    func browsers() throws {
        let origin = "Origin: https://shop.example\r\n"
        func send(_ method: String, _ path: String, _ body: String = "") -> PlainHTTP.Answer {
            PlainHTTP.exchange(
                "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(origin)Content-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)", fixture.server.port)
        }
        let preflight = send("OPTIONS", "/v1/opens")
        #expect(preflight.status == 204 && preflight.headers["access-control-allow-methods"] == "POST")
        #expect(preflight.headers["access-control-allow-headers"] == "*")
        for (method, body) in [("POST", "{}"), ("POST", String(repeating: "x", count: 20_000)), ("GET", "")] {
            let answer = send(method, "/v1/opens", body)
            #expect(answer.status >= 400 && answer.headers["access-control-allow-origin"] == "*", "\(answer)")
        }
        #expect(send("OPTIONS", "/v1/campaigns").status == 405)
        #expect(send("GET", "/v1/campaigns").headers["access-control-allow-origin"] == nil)
    }
}
