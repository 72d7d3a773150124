import ChangeEvents
import JSON
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("The native API", .ownThread)
struct NativeAPITests {
    private static let token = String(repeating: "ab", count: 32)

    private func device(_ more: String = "", token: String = token) -> String {
        #"{"platform":"APNS","token":"\#(token)","app":"chat"\#(more)}"#
    }

    @Test("A device is put, shown, renewed, listed and deleted", arguments: ServedStore.Kind.allCases)
    func deviceLife(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let more =
            #","identityPoolId":"\#(RegistryFixture.pool)","identityId":"us-east-1:a1","userId":"mei","#
            + #""datasets":["notes"],"topics":["news"]"#
        let put = client.send("PUT", "/v1/devices/d%2F1", device(more))
        #expect(put.status == 201)
        #expect(!put.body.contains(Self.token) && put.body.contains("abababab…"))
        #expect(client.send("PUT", "/v1/devices/d%2F1", device(more)).status == 200)
        let shown = try JSONParser().parse(client.send("GET", "/v1/devices/d%2F1").body)
        #expect(shown["deviceId"]?.string == "d/1" && shown["userId"]?.string == "mei")
        #expect(shown["datasets"]?.array.map { $0.compactMap(\.string) } == ["notes"])
        let stored = try #require(try fixture.registry().device("d/1"))
        #expect(stored.token.hexadecimal == Self.token && stored.identityID == "us-east-1:a1")
        for query in ["", "?app=chat", "?userId=mei", "?identityId=us-east-1:a1", "?app=chat&userId=mei&limit=1"] {
            #expect(client.send("GET", "/v1/devices\(query)").body.contains("d/1"))
        }
        for query in ["?app=mail", "?userId=x", "?identityId=x:0", "?after=d/1"] {
            #expect(!client.send("GET", "/v1/devices\(query)").body.contains("d/1"))
        }
        #expect(client.send("DELETE", "/v1/devices/d%2F1").status == 204)
        #expect(client.send("DELETE", "/v1/devices/d%2F1").status == 404)
        #expect(client.send("GET", "/v1/devices/d%2F1").status == 404)
    }

    @Test("A change on a condition that cannot be decided is refused with 412, and changes nothing")
    func conditions() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let created = client.send("PUT", "/v1/devices/d", device(), fields: "If-None-Match: \"x\"\r\n")
        #expect(created.status == 201, "no tag is current, so this condition holds: \(created)")
        for condition in ["If-Match: \"x\"", "If-Match: *", "If-None-Match: *", "if-match: W/\"x\", \"y\""] {
            let field = condition + "\r\n"
            for (method, path, body) in [
                ("PUT", "/v1/devices/d", device(#","userId":"mei""#)), ("PUT", "/v1/devices/d/topics/news", ""),
                ("PUT", "/v1/devices/d/badge", #"{"badge":3}"#), ("DELETE", "/v1/devices/d", ""),
                ("PUT", "/v1/devices/new", device(token: String(repeating: "cd", count: 32))),
            ] {
                let refused = client.send(method, path, body, fields: field)
                #expect(refused.status == 412 && refused.body.contains("precondition-failed"), "\(refused)")
            }
            #expect(client.send("GET", "/v1/devices/d", fields: field).status == 200, "who only looks is shown it")
        }
        let kept = try #require(try fixture.registry().device("d"))
        #expect(try kept.userID == nil && fixture.registry().badge(of: "d") ?? 0 == 0)
        #expect(try fixture.registry().device("new") == nil)
    }

    @Test("A device has a token of each further kind, put with it or alone", arguments: ServedStore.Kind.allCases)
    func furtherTokens(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let put = client.send("PUT", "/v1/devices/d", device(#","tokens":{"voip":"01020304ff","widgets":"05"}"#))
        #expect(put.status == 201 && put.body.contains(#""voip":"01020304…(5 bytes)""#), "\(put)")
        #expect(client.send("PUT", "/v1/devices/d", device()).body.contains(#""widgets""#), "renewal keeps them")
        #expect(client.send("PUT", "/v1/devices/d/tokens/voip", #"{"token":"0607"}"#).status == 204)
        #expect(client.send("DELETE", "/v1/devices/d/tokens/widgets").status == 204)
        #expect(client.send("DELETE", "/v1/devices/d/tokens/widgets").status == 204)
        let kept = try fixture.registry().tokens(of: ["d"])[0]
        #expect(kept.map(\.kind) == [.voip] && kept.map(\.token.bytes) == [[6, 7]])
        for (path, body) in [
            ("alert", #"{"token":"01"}"#), ("phone", #"{"token":"01"}"#), ("voip", #"{"token":"x"}"#), ("voip", "{}"),
        ] {
            #expect(client.send("PUT", "/v1/devices/d/tokens/\(path)", body).status == 400, "\(path) \(body)")
        }
        let same = client.send("PUT", "/v1/devices/d/tokens/voip", #"{"token":"\#(Self.token)"}"#)
        #expect(same.status == 409 && same.body.contains("is the same as its alert token"))
        #expect(client.send("PUT", "/v1/devices/x/tokens/voip", #"{"token":"01"}"#).status == 404)
        for tokens in [#"{"alert":"01"}"#, #"{"voip":1}"#, #"["01"]"#, #"{"voip":"\#(Self.token)"}"#] {
            let refused = client.send("PUT", "/v1/devices/e", device(#","tokens":\#(tokens)"#))
            #expect(refused.status == 400, "\(tokens)")
        }
        #expect(try fixture.registry().device("e") == nil)
    }

    @Test("Lists come in pages, each device in one", arguments: ServedStore.Kind.allCases)
    func pages(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        for index in 0..<7 {
            client.send("PUT", "/v1/devices/d\(index)", device(token: "ab0\(index)"))
        }
        var found: [String] = []
        var after = ""
        while true {
            let page = try JSONParser().parse(client.send("GET", "/v1/devices?limit=3\(after)").body)
            found += page["devices"]?.array?.compactMap { $0["deviceId"]?.string } ?? []
            guard let next = page["next"]?.string else { break }
            after = "&after=\(next)"
        }
        #expect(found == (0..<7).map { "d\($0)" })
    }

    @Test("A badge is set, shown and reset", arguments: ServedStore.Kind.allCases)
    func badges(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        client.send("PUT", "/v1/devices/d", device())
        #expect(client.send("GET", "/v1/devices/d/badge").body == #"{"badge":0}"#)
        #expect(client.send("PUT", "/v1/devices/d/badge", #"{"badge":7}"#).status == 204)
        #expect(client.send("GET", "/v1/devices/d/badge").body == #"{"badge":7}"#)
        #expect(
            try fixture.registry().countBadges(
                ["d"], for: EventDigest(source: "s", identifier: "1"), isRepeated: false) == [8])
        #expect(client.send("DELETE", "/v1/devices/d/badge").status == 204)
        #expect(client.send("GET", "/v1/devices/d").body.contains(#""badge":0"#))
        for body in ["", "{}", #"{"badge":-1}"#, #"{"badge":1.5}"#, #"{"badge":1000001}"#, #"{"badge":"1"}"#] {
            #expect(client.send("PUT", "/v1/devices/d/badge", body).status == 400, "\(body)")
        }
        #expect(client.send("GET", "/v1/devices/x/badge").status == 404)
    }

    @Test("Devices and users subscribe to topics, and topics are counted", arguments: ServedStore.Kind.allCases)
    func topics(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        client.send("PUT", "/v1/devices/d", device(#","userId":"mei""#))
        for _ in 0..<2 {
            #expect(client.send("PUT", "/v1/devices/d/topics/a%20b").status == 204)
            #expect(client.send("PUT", "/v1/apps/chat/users/mei/topics/c").status == 204)
        }
        #expect(
            client.send("GET", "/v1/apps/chat/topics").body
                == #"{"topics":[{"topic":"a b","devices":1,"users":0},{"topic":"c","devices":0,"users":1}]}"#)
        #expect(client.send("GET", "/v1/apps/chat/topics?limit=1").body.contains(#""next":"a b""#))
        let audience = AudienceRequest(audience: .topic("c", app: "chat"))
        #expect(try fixture.registry().resolve([audience], limit: 9).first?.devices.map(\.deviceID) == ["d"])
        for _ in 0..<2 {
            #expect(client.send("DELETE", "/v1/devices/d/topics/a%20b").status == 204)
            #expect(client.send("DELETE", "/v1/apps/chat/users/mei/topics/c").status == 204)
        }
        #expect(client.send("GET", "/v1/apps/chat/topics").body == #"{"topics":[]}"#)
        #expect(client.send("PUT", "/v1/apps/none/users/mei/topics/c").status == 404)
        #expect(client.send("PUT", "/v1/devices/x/topics/c").status == 404)
        let long = String(repeating: "x", count: 257)
        #expect(client.send("PUT", "/v1/devices/d/topics/\(long)").status == 400)
    }

    @Test("Datasets are subscribed to and left", arguments: ServedStore.Kind.allCases)
    func datasets(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        client.send("PUT", "/v1/devices/d", device(#","identityPoolId":"p:0","identityId":"i:0""#))
        client.send("PUT", "/v1/devices/e", device(token: "cd"))
        #expect(client.send("PUT", "/v1/devices/d/datasets/notes").status == 204)
        #expect(client.send("GET", "/v1/devices/d").body.contains(#""datasets":["notes"]"#))
        #expect(client.send("DELETE", "/v1/devices/d/datasets/notes").status == 204)
        #expect(client.send("GET", "/v1/devices/d").body.contains(#""datasets":[]"#))
        #expect(client.send("PUT", "/v1/devices/d/datasets/a%20b").status == 400)
        #expect(client.send("PUT", "/v1/devices/e/datasets/notes").status == 409)
    }

    @Test("Everything of an identity or a user goes in one call", arguments: ServedStore.Kind.allCases)
    func erasing(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        client.send("PUT", "/v1/devices/a", device(#","identityPoolId":"p:0","identityId":"i:1""#, token: "01"))
        client.send("PUT", "/v1/devices/b", device(#","userId":"mei""#, token: "02"))
        client.send("PUT", "/v1/devices/c", device(token: "03"))
        client.send("PUT", "/v1/apps/chat/users/mei/topics/t")
        #expect(client.send("DELETE", "/v1/identities/i%3A1").body == #"{"removedDevices":1}"#)
        #expect(client.send("DELETE", "/v1/users/mei").body == #"{"removedDevices":1}"#)
        #expect(client.send("DELETE", "/v1/users/mei").body == #"{"removedDevices":0}"#)
        #expect(try fixture.registry().deviceCount() == 1)
        #expect(client.send("GET", "/v1/apps/chat/topics").body == #"{"topics":[]}"#)
    }

    @Test(
        "A registration that is not right is refused, and changes nothing",
        arguments: [
            "", "[]", "{", "{}", #"{"platform":"APNS"}"#, #"{"platform":"WNS","token":"ab","app":"chat"}"#,
            #"{"platform":"APNS","token":"xyz","app":"chat"}"#, #"{"platform":"APNS","token":"ab"}"#,
            #"{"platform":"APNS","token":"ab","app":"c t"}"#, #"{"platform":"APNS","token":7,"app":"chat"}"#,
            #"{"platform":"APNS","token":"ab","app":"chat","identityId":"i:1"}"#,
            #"{"platform":"APNS","token":"ab","app":"chat","tokn":"ab"}"#,
            #"{"platform":"APNS","token":"ab","app":"chat","topics":"t"}"#,
            #"{"platform":"APNS","token":"ab","app":"chat","topics":[""]}"#,
            #"{"platform":"APNS","token":"ab","app":"chat","datasets":["notes"]}"#,
            #"{"platform":"APNS","token":"ab","app":"mail","identityId":"i:1","identityPoolId":"#
                + #""\#(RegistryFixture.pool)"}"#,
        ])
    func badRegistrations(body: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        #expect(client.send("PUT", "/v1/devices/d", body).status == 400)
        #expect(try fixture.registry().deviceCount() == 0)
    }

    @Test(
        "A name that no event can have is refused with the rule that it breaks",
        arguments: [
            (
                #","identityPoolId":"\#(RegistryFixture.pool)","identityId":"bob""#,
                #"The identity \"bob\" is invalid; it must be REGION:ID"#
            ),
            (
                #","identityPoolId":"pool","identityId":"a:1""#,
                #"The identity pool \"pool\" is invalid; it must be REGION:ID"#
            ),
            (
                #","identityPoolId":"\#(RegistryFixture.pool)","identityId":"a:\#(String(repeating: "0", count: 54))""#,
                "has 56 bytes; it must be 1 to 55 bytes long"
            ), (#","userId":"a\u0000""#, "it must be a text without control characters"),
            (#","topics":[""]"#, "has 0 bytes; it must be 1 to 256 bytes long"),
            (#","usrId":"mei""#, "did you mean userId?"), (#","topics":["a",7]"#, "has an entry that is no string"),
        ])
    func namesThatEventsCannotHave(more: String, message: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let answer = try NativeClient(fixture).send("PUT", "/v1/devices/d", device(more))
        #expect(answer.status == 400)
        let text = try JSONParser().parse(answer.body)["detail"]?.string ?? ""
        #expect(text.contains(message.replacing("\\\"", with: "\"")), "\(text)")
    }

    @Test(
        "A query that is not right is refused",
        arguments: ["limit=0", "limit=1001", "limit=x", "what=1", "after=a&after=b"])
    func badQueries(query: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        #expect(try NativeClient(fixture).send("GET", "/v1/devices?\(query)").status == 400)
    }

    @Test("What is too long, unknown or not allowed is told in the same form")
    func commonErrors() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        #expect(client.send("PUT", "/v1/devices/d", String(repeating: " ", count: 1_100_000)).status == 413)
        let port = fixture.server.port
        let unknown = PlainHTTP.request("GET", "/v1/nothing", port: port)
        #expect(unknown.status == 404 && unknown.body.contains(#""code":"not-found""#))
        let elsewhere = PlainHTTP.request("GET", "/", port: port)
        #expect(elsewhere.status == 404 && elsewhere.headers["content-type"] == "application/problem+json")
        let method = PlainHTTP.request("POST", "/v1/devices", port: port)
        #expect(method.status == 405 && method.headers["allow"] == "GET, HEAD")
        #expect(PlainHTTP.request("GET", "/v1/%ff", port: port).body.contains(#""code":"invalid""#))
    }
}
