import JSON
import PushTestKit
import RegistryAPI
import RegistryCore
import SQLiteRegistry
import TestTraits
import Testing

@Suite("The native API does what its document says", .ownThread)
struct NativeContractTests {
    private static let long = String(repeating: "x", count: 257)
    private let client: NativeClient

    init() throws {
        client = try NativeClient(try RegistryFixture())
        client.send("PUT", "/v1/devices/d", #"{"platform":"APNS","token":"ab","app":"chat"}"#)
        client.send("PUT", "/v1/devices/g", #"{"platform":"GCM","token":"ab","app":"chat"}"#)
    }

    @Test(
        "A name that nothing can have is refused, whatever is done with it",
        arguments: [
            "GET /v1/devices/\(long)", "DELETE /v1/devices/\(long)", "DELETE /v1/devices/d/topics/\(long)",
            "DELETE /v1/devices/d/datasets/a%20b", "DELETE /v1/devices/d/subscriptions/\(long)",
            "DELETE /v1/apps/chat/users/\(long)/topics/t", "DELETE /v1/apps/c%20t/users/u/topics/t",
            "DELETE /v1/users/\(long)", "DELETE /v1/identities/mei", "GET /v1/devices?userId=\(long)",
            "GET /v1/devices?identityId=mei", "GET /v1/devices?app=c%20t", "GET /v1/subscriptions?deviceId=\(long)",
            "GET /v1/subscriptions?recordType=\(long)", "GET /v1/devices/a%00b", "GET /v1/devices/a%1fb",
            "GET /v1/devices/a%7fb", "GET /v1/devices/a%c2%85b", "GET /v1/devices?userId=", "GET /v1/devices?app=",
        ])
    func names(request: String) throws {
        let parts = request.split(separator: " ").map(String.init)
        let answer = client.send(parts[0], parts[1])
        #expect(answer.status == 400, "\(answer)")
    }

    @Test("Names are measured in bytes, up to 256 of them")
    func bytes() throws {
        let fits = String(repeating: "%c3%a9", count: 128)
        #expect(client.send("PUT", "/v1/devices/d/topics/\(fits)").status == 204)
        #expect(client.send("PUT", "/v1/devices/d/topics/\(fits)x").status == 400)
        #expect(client.send("PUT", "/v1/devices/d/topics/%c2%a0").status == 204, "U+00A0 is no control character")
    }

    @Test(
        "A page is asked for with what the page before it said",
        arguments: [
            "/v1/devices?after=", "/v1/apps/chat/topics?after=", "/v1/subscriptions?after=",
            "/v1/subscriptions?after=%2B1", "/v1/subscriptions?after=-1", "/v1/subscriptions?after=x",
            "/v1/devices?limit=%2B1", "/v1/devices?limit=", "/v1/devices?limit=1.0",
        ])
    func pages(path: String) throws { #expect(client.send("GET", path).status == 400) }

    @Test("A query that an operation does not have is refused: who erases of one app only must not erase of all")
    func unknownQuery() throws {
        client.send("PUT", "/v1/devices/d", #"{"platform":"APNS","token":"ab","app":"chat","userId":"mei"}"#)
        #expect(client.send("DELETE", "/v1/users/mei?app=mail").status == 400)
        #expect(client.send("GET", "/v1/devices/d").status == 200)
    }

    @Test(
        "An integer may be written with a fraction of zero or an exponent", arguments: ["7.0", "7e0", "0.7e1", "-0.0"])
    func wholeNumbers(number: String) throws {
        #expect(client.send("PUT", "/v1/devices/d/badge", #"{"badge":\#(number)}"#).status == 204)
        let badge = number == "-0.0" ? 0 : 7
        #expect(client.send("GET", "/v1/devices/d/badge").body == #"{"badge":\#(badge)}"#)
        let flag = #"{"recordType":"A","firesOnce":1.0}"#
        #expect(client.send("PUT", "/v1/devices/d/subscriptions/s", flag).body.contains(#""firesOnce":true"#))
    }

    @Test("An optional member that is null counts as left out")
    func nulls() throws {
        let device =
            #"{"platform":"APNS","token":"ab","app":"chat","userId":null,"identityId":null,"identityPoolId":null,"#
            + #""datasets":null,"topics":null,"tokens":null}"#
        #expect(client.send("PUT", "/v1/devices/d", device).status == 200)
        let content = #"{"type":null,"database":null,"recordType":"A","predicate":null,"filterBy":null,"firesOn":null,"#
        let info = #""notificationInfo":{"alertBody":null,"alertLocalizationArgs":null,"shouldBadge":null}}"#
        #expect(client.send("PUT", "/v1/devices/d/subscriptions/s", content + info).status == 200)
    }

    @Test(
        "A body that readers could read differently is refused",
        arguments: [
            #"{"recordType":"A","recordType":"B"}"#, #"{"recordType":"A","record\u0054ype":"B"}"#,
            #"{"recordType":"A","filter":{"a":{"ge":1},"a":{"le":5}}}"#,
            #"{"recordType":"A","filterBy":[{"comparator":"EQUALS","comparator":"IN"}]}"#,
            #"{"recordType":"\ud800"}"#, #"{"recordType":"A\u0000"}"#, #"{"recordType":"A\u001b"}"#,
            #"{"recordType":"A"}{}"#,
        ])
    func ambiguousBodies(body: String) throws {
        #expect(client.send("PUT", "/v1/devices/d/subscriptions/s", body).status == 400)
    }

    @Test("A body is JSON, and said to be nothing else")
    func mediaTypes() throws {
        let path = "/v1/devices/d/badge"
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/json ;a=b"] {
            #expect(client.send("PUT", path, #"{"badge":1}"#, type: type).status == 204, "\(type)")
        }
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application", ";"] {
            let answer = client.send("PUT", path, #"{"badge":1}"#, type: type)
            #expect(answer.status == 415 && answer.body.contains(#""code":"unsupported-media-type""#), "\(type)")
        }
    }

    @Test("An app that there is not, or that the token is not for, is not found, wherever it is named")
    func unknownApp() throws {
        let chat = try NativeClient(client.fixture, app: "chat")
        for (client, app) in [(client, "none"), (chat, "mail")] {
            let device = #"{"platform":"APNS","token":"cd","app":"\#(app)"}"#
            #expect(client.send("PUT", "/v1/devices/e", device).status == 404)
            #expect(client.send("GET", "/v1/devices?app=\(app)").status == 404)
            #expect(client.send("GET", "/v1/apps/\(app)/topics").status == 404)
        }
    }

    @Test("What a device cannot have because of what it is, is a conflict")
    func conflicts() throws {
        #expect(client.send("PUT", "/v1/devices/d/datasets/notes").status == 409)
        #expect(client.send("PUT", "/v1/devices/g/tokens/voip", #"{"token":"01"}"#).status == 409)
    }

    @Test("HEAD is answered as GET is, without the body, and needs no more than a token that may read")
    func head() throws {
        let reader = try NativeClient(client.fixture, permission: .read).token ?? ""
        for (path, status) in [("/v1/devices/d", 200), ("/v1/devices/x", 404), ("/openapi.json", 200)] {
            let fields = "Host: localhost\r\nAuthorization: Bearer \(reader)\r\nConnection: close\r\n"
            let answer = PlainHTTP.exchange("HEAD \(path) HTTP/1.1\r\n\(fields)\r\n", client.fixture.server.port)
            #expect(answer.status == status && answer.body.isEmpty, "\(answer)")
            #expect(answer.headers["content-length"] != "0", "\(answer)")
        }
        let refused = PlainHTTP.exchange(
            "HEAD /v1/devices/d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", client.fixture.server.port)
        #expect(refused.status == 401)
        let method = PlainHTTP.request("POST", "/v1/devices/d", port: client.fixture.server.port)
        #expect(method.status == 405 && method.headers["allow"] == "PUT, GET, HEAD, DELETE")
    }
}
