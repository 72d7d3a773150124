import JSON
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("Subscriptions to records in the native API", .ownThread)
struct NativeSubscriptionTests {
    private static let query = #"""
        {"recordType":"Artwork","predicate":"artist = \"Mei Chen\" AND price <= 20","firesOn":["created"],
        "firesOnce":true,"notificationInfo":{"alertBody":"{title} is new","additionalFields":["artist"]}}
        """#

    private func client(_ kind: ServedStore.Kind = .sqlite) async throws -> NativeClient {
        let client = try NativeClient(try await RegistryFixture(kind))
        client.send("PUT", "/v1/devices/d", #"{"platform":"APNS","token":"ab","app":"chat","userId":"mei"}"#)
        return client
    }

    @Test(
        "A subscription of a device or a user is saved, shown and deleted",
        arguments: ["/v1/devices/d/subscriptions/s%2F1", "/v1/apps/chat/users/mei/subscriptions/s%2F1"],
        ServedStore.Kind.allCases)
    func subscriptionLife(path: String, _ kind: ServedStore.Kind) async throws {
        let client = try await client(kind)
        defer { client.fixture.server.stop() }
        for (method, body) in [("PUT", Self.query), ("PUT", Self.query), ("GET", "")] {
            let answer = client.send(method, path, body)
            #expect(answer.status == 200)
            let found = try JSONParser().parse(answer.body)
            #expect(found["subscriptionId"]?.string == "s/1" && found["app"]?.string == "chat")
            #expect(found["predicate"]?.string == #"artist = "mei chen" AND price <= 20"#)
            #expect(found["notificationInfo"]?["alertBody"]?.string == "{title} is new")
        }
        #expect(client.send("DELETE", path).status == 204)
        #expect(client.send("DELETE", path).status == 404)
        #expect(client.send("GET", path).status == 404)
    }

    @Test("A predicate may be written in four languages, which mean the same", arguments: ServedStore.Kind.allCases)
    func languages(_ kind: ServedStore.Kind) async throws {
        let client = try await client(kind)
        defer { client.fixture.server.stop() }
        let texts = [
            #""predicate":"price <= 20""#,
            #""filterBy":[{"comparator":"LESS_THAN_OR_EQUALS","fieldName":"price","fieldValue":{"value":20}}]"#,
            #""filterGroup":[{"filters":[{"fieldName":"price","operator":"le","value":20}]}]"#,
            #""filter":{"price":{"le":20}}"#,
        ]
        for (index, text) in texts.enumerated() {
            let path = "/v1/devices/d/subscriptions/s\(index)"
            let answer = client.send("PUT", path, #"{"recordType":"A",\#(text)}"#)
            #expect(answer.status == 200 && answer.body.contains(#""predicate":"price <= 20""#), "\(answer)")
        }
        let all = client.send("PUT", "/v1/devices/d/subscriptions/all", #"{"recordType":"A"}"#)
        #expect(all.body.contains(#""predicate":"TRUEPREDICATE","firesOn":["created","updated","deleted"]"#))
    }

    @Test("A predicate that is too long is refused for its length, in each language, and so is a notification")
    func lengths() async throws {
        let client = try await client()
        defer { client.fixture.server.stop() }
        let text = String(repeating: "x", count: 100_000)
        let contents = [
            #""predicate":"? \#(text)""#, #""filterBy":["\#(text)"]"#, #""filterGroup":["\#(text)"]"#,
            #""filter":{"\#(text)":1}"#, #""notificationInfo":{"nothing":"\#(text)"}"#,
        ]
        for content in contents {
            let answer = client.send("PUT", "/v1/devices/d/subscriptions/s", #"{"recordType":"A",\#(content)}"#)
            #expect(answer.status == 400 && answer.body.contains("longer than 65536 bytes"), "\(answer)")
        }
    }

    @Test(
        "Subscriptions are listed by app, type and owner, in pages, and counted", arguments: ServedStore.Kind.allCases)
    func lists(_ kind: ServedStore.Kind) async throws {
        let client = try await client(kind)
        defer { client.fixture.server.stop() }
        for (path, type) in [
            ("/v1/devices/d/subscriptions/a", "Artwork"), ("/v1/devices/d/subscriptions/b", "Song"),
            ("/v1/apps/chat/users/mei/subscriptions/c", "Song"), ("/v1/apps/mail/users/mei/subscriptions/d", "Mail"),
        ] {
            client.send("PUT", path, #"{"recordType":"\#(type)"}"#)
        }
        func names(_ query: String) throws -> [String] {
            var found: [String] = []
            var after = ""
            while true {
                let answer = client.send("GET", "/v1/subscriptions?limit=1\(query)\(after)")
                let page = try JSONParser().parse(answer.body)
                found += page["subscriptions"]?.array?.compactMap { $0["subscriptionId"]?.string } ?? []
                guard let next = page["next"]?.string else { return found }
                after = "&after=\(next)"
            }
        }
        #expect(try names("") == ["a", "b", "c", "d"])
        #expect(try names("&app=chat") == ["a", "b", "c"])
        #expect(try names("&recordType=Song") == ["b", "c"])
        #expect(try names("&deviceId=d") == ["a", "b"])
        #expect(try names("&userId=mei&app=mail") == ["d"])
        #expect(
            client.send("GET", "/v1/subscriptions/counts").body
                == #"{"counts":[{"app":"chat","recordType":"Artwork","count":1},"#
                + #"{"app":"chat","recordType":"Song","count":2},{"app":"mail","recordType":"Mail","count":1}]}"#)
        #expect(client.send("GET", "/v1/subscriptions?deviceId=d&userId=mei").status == 400)
        #expect(client.send("GET", "/v1/subscriptions?after=x").status == 400)
        // A record type may begin with a mark that joins the slash before it.
        #expect(client.send("GET", "/v1/subscriptions/counts?after=chat/%F0%9F%8F%BB").body.contains("mail"))
        #expect(client.send("GET", "/v1/subscriptions/counts?after=chat").status == 400)
        let mail = try NativeClient(client.fixture, app: "mail")
        #expect(mail.send("GET", "/v1/subscriptions?deviceId=d").body == #"{"subscriptions":[]}"#)
        #expect(
            mail.send("GET", "/v1/subscriptions/counts").body
                == #"{"counts":[{"app":"mail","recordType":"Mail","count":1}]}"#)
        #expect(mail.send("GET", "/v1/devices/d/subscriptions/a").status == 404)
        #expect(mail.send("PUT", "/v1/apps/chat/users/mei/subscriptions/a", Self.query).status == 404)
    }

    @Test(
        "An invalid subscription is refused, with the location of the fault",
        arguments: [
            ("{}", "record type"), (#"{"recordType":"A","predicate":"a ="}"#, "column"),
            (#"{"recordType":"A","predicate":"a = 1","filter":{}}"#, "filter"),
            (#"{"recordType":"A","filterBy":[{}]}"#, "filterBy[0]"), (#"{"recordType":"A","firesOn":[]}"#, "firesOn"),
            (#"{"recordType":"A","firesOn":["never"]}"#, "firesOn"),
            (#"{"recordType":"A","fireOnce":true}"#, "fireOnce"),
            (#"{"type":"what"}"#, "type"), (#"{"type":"zone"}"#, "zone"),
            (#"{"recordType":"A","database":"private"}"#, "database"),
            (#"{"recordType":"A","notificationInfo":{"additionalFields":["a","b","c","d"]}}"#, "additionalFields"),
            (#"{"recordType":"A","notificationInfo":{"alertBdy":"x"}}"#, "did you mean alertBody?"),
            (#"{"recordType":"A","notificationInfo":{"sound":"x"}}"#, "did you mean soundName?"),
            (#"{"recordType":"A","notificationInfo":{"alertBody":""}}"#, "alertBody is an empty string"),
            (
                #"{"recordType":"A","notificationInfo":{"alertBody":"x","soundName":""}}"#,
                "soundName is an empty string"
            ),
            (
                #"{"recordType":"A","notificationInfo":{"shouldBadge":true,"shouldSendMutableContent":true}}"#,
                "shouldSendMutableContent and no text"
            ),
            (#"{"recordType":7}"#, "recordType"),
        ])
    func badContent(body: String, location: String) async throws {
        let client = try await client()
        defer { client.fixture.server.stop() }
        let answer = client.send("PUT", "/v1/devices/d/subscriptions/s", body)
        #expect(answer.status == 400 && answer.body.contains(location), "\(answer)")
        #expect(try client.fixture.registry().subscriptionCounts().isEmpty)
    }
}
