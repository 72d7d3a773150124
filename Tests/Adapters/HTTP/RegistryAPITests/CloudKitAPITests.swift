import ChangeEvents
import JSON
import Notifications
import Predicates
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("CloudKit Web Services", .ownThread)
struct CloudKitAPITests {
    private static let container = "iCloud.com.example.chat"

    private func post(
        _ fixture: RegistryFixture, _ path: String, _ body: String, user: String? = "mei", token: String
    ) -> PlainHTTP.Answer {
        let query = "ckAPIToken=\(token)" + (user.map { "&ckWebAuthToken=\($0)" } ?? "")
        return PlainHTTP.request("POST", "\(path)?\(query)", port: fixture.server.port, body: body)
    }

    private func path(_ operation: String, database: String = "public") -> String {
        "/database/1/\(Self.container)/production/\(database)/subscriptions/\(operation)"
    }

    private static let artwork = """
        {"subscriptionID":"art","subscriptionType":"query","query":{"recordType":"Artwork","filterBy":[
        {"comparator":"EQUALS","fieldName":"artist","fieldValue":{"value":"Mei Chen","type":"STRING"}},
        {"comparator":"LESS_THAN_OR_EQUALS","fieldName":"price","fieldValue":{"value":20,"type":"INT64"}}]},
        "firesOn":["create","update"],"firesOnce":true,"zoneWide":true,
        "notificationInfo":{"alertBody":"New art","soundName":"default","additionalFields":["artist"]}}
        """

    private func operation(_ type: String, _ subscription: String) -> String {
        #"{"operations":[{"operationType":"\#(type)","subscription":\#(subscription)}]}"#
    }

    private func first(_ answer: PlainHTTP.Answer, _ parser: JSONParser) throws -> JSONValue {
        #expect(answer.status == 200, "\(answer)")
        let array = try #require(try parser.parse(answer.body)["subscriptions"]?.array)
        return try #require(Array(array).first)
    }

    @Test("Filters and notifications that are too long are refused for their length")
    func lengths() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture, app: "chat")
        let text = String(repeating: "x", count: 520_000)
        for member in [
            #""query":{"recordType":"A","filterBy":["\#(text)"]}"#,
            #""query":{"recordType":"A"},"notificationInfo":{"alertBody":"\#(text)"}"#,
        ] {
            let body = operation(
                "create",
                #"{"subscriptionID":"s","subscriptionType":"query","firesOn":["create"],\#(member)}"#)
            let found = try first(post(fixture, path("modify"), body, token: token), JSONParser())
            #expect(found["serverErrorCode"]?.string == "BAD_REQUEST")
            #expect(found["reason"]?.string?.contains("at most 65536 are accepted") == true)
        }
    }

    @Test(
        "A subscription is made, listed, looked up, changed and deleted, in Apple's JSON",
        arguments: ServedStore.Kind.allCases)
    func subscriptionLife(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture, app: "chat")
        let parser = JSONParser()
        func send(_ name: String, _ body: String) throws -> JSONValue {
            try first(post(fixture, path(name), body, token: token), parser)
        }
        for (name, body) in [
            ("modify", operation("create", Self.artwork)), ("list", ""),
            ("lookup", #"{"subscriptions":[{"subscriptionID":"art"}]}"#),
        ] {
            let found = try send(name, body)
            #expect(found["subscriptionID"]?.string == "art" && found["subscriptionType"]?.string == "query")
            let filters = try #require(found["query"]?["filterBy"])
            let expected = try Predicate(parsing: "artist =[c] \"Mei Chen\" AND price <= 20")
            #expect(try Predicate(filterBy: filters) == expected)
            #expect(found["firesOn"]?.array.map { $0.compactMap(\.string) } == ["create", "update"])
            #expect(found["firesOnce"]?.bool == true && found["zoneWide"]?.bool == true)
            #expect(found["notificationInfo"]?["alertBody"]?.string == "New art")
        }
        let key = SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: "art")
        let stored = try #require(try fixture.registry().subscription(key)).subscription
        #expect(stored.recordType == "Artwork" && stored.firesOnce && stored.firesOn == [.created, .updated])
        #expect(try send("modify", operation("create", Self.artwork))["serverErrorCode"]?.string == "EXISTS")
        let changed =
            #"{"subscriptionID":"art","subscriptionType":"query","query":{"recordType":"Song"},"firesOn":["delete"]}"#
        let updated = try send("modify", operation("update", changed))
        #expect(updated["query"]?["recordType"]?.string == "Song")
        #expect(updated["query"]?.object?.count == 1)
        #expect(try send("modify", operation("delete", #"{"subscriptionID":"art"}"#))["deleted"]?.bool == true)
        for (name, body) in [
            ("modify", operation("delete", #"{"subscriptionID":"art"}"#)), ("modify", operation("update", changed)),
            ("lookup", #"{"subscriptions":[{"subscriptionID":"art"}]}"#),
        ] {
            let missing = try send(name, body)
            #expect(missing["serverErrorCode"]?.string == "NOT_FOUND")
            #expect(missing["subscriptionID"]?.string == "art")
        }
    }

    @Test("Zones and databases are watched where CloudKit has them", arguments: ServedStore.Kind.allCases)
    func zonesAndDatabases(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let parser = JSONParser()
        let zone = #"{"subscriptionID":"z","subscriptionType":"zone","zoneID":{"zoneName":"notes"}}"#
        let whole = #"{"subscriptionID":"d","subscriptionType":"database"}"#
        let query =
            #"{"subscriptionID":"q","subscriptionType":"query","query":{"recordType":"A"},"firesOn":["create"],"#
            + #""zoneWide":false}"#
        func code(_ subscription: String, _ database: String) throws -> String? {
            let body = operation("create", subscription)
            return try first(post(fixture, path("modify", database: database), body, token: token), parser)[
                "serverErrorCode"]?.string
        }
        #expect(try code(zone, "public") == "BAD_REQUEST")
        #expect(try code(whole, "public") == "BAD_REQUEST")
        #expect(try code(query, "shared") == "BAD_REQUEST")
        #expect(try code(zone, "private") == nil)
        #expect(try code(whole, "shared") == nil)
        #expect(try code(query, "private") == nil)
        let listed = post(fixture, path("list", database: "private"), "", token: token).body
        #expect(listed.contains(#""subscriptionID":"z""#) && listed.contains(#""zoneName":"notes""#))
        #expect(listed.contains(#""subscriptionID":"q""#) && listed.contains("_defaultZone"))
        #expect(!listed.contains(#""subscriptionID":"d""#))
    }

    @Test("One wrong operation does not spoil the others", arguments: ServedStore.Kind.allCases)
    func partialFailure(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let wrong =
            #"{"subscriptionID":"x","subscriptionType":"query","query":{"recordType":"A","filterBy":"#
            + #"[{"comparator":"NEARLY","fieldName":"a","fieldValue":{"value":1}}]},"firesOn":["create"]}"#
        let body =
            #"{"operations":[{"operationType":"create","subscription":\#(wrong)},{"operationType":"create","#
            + #""subscription":\#(Self.artwork)},{"operationType":"what","subscription":{"subscriptionID":"y"}},{}]}"#
        let answer = post(fixture, path("modify"), body, token: token)
        let results = try #require(JSONParser().parse(answer.body)["subscriptions"]?.array)
        let codes = results.map { $0["serverErrorCode"]?.string }
        #expect(codes == ["BAD_REQUEST", nil, "BAD_REQUEST", "BAD_REQUEST"])
        #expect(answer.body.contains("query.filterBy[0].comparator"))
    }

    @Test("The users of an app do not see each other's subscriptions", arguments: ServedStore.Kind.allCases)
    func users(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        _ = post(fixture, path("modify"), operation("create", Self.artwork), token: token)
        let other = post(fixture, path("list"), "", user: "bob", token: token)
        #expect(other.body == #"{"subscriptions":[]}"#)
        #expect(
            post(fixture, path("modify"), operation("create", Self.artwork), user: "bob", token: token).status == 200)
        #expect(try fixture.registry().subscriptionCounts().map(\.count) == [2])
    }

    @Test("Who may not is told by the names that clients know")
    func refusals() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let reader = try NativeClient.token(fixture, permission: .read)
        let mail = try NativeClient.token(fixture, app: "mail")
        let body = operation("create", Self.artwork)
        func check(_ answer: PlainHTTP.Answer, _ status: Int, _ code: String) {
            #expect(answer.status == status && answer.body.contains(#""serverErrorCode":"\#(code)""#), "\(answer)")
        }
        check(post(fixture, path("modify"), body, token: "wrong"), 401, "AUTHENTICATION_FAILED")
        check(post(fixture, path("modify"), body, user: nil, token: token), 421, "AUTHENTICATION_REQUIRED")
        check(post(fixture, path("modify"), body, token: reader), 403, "ACCESS_DENIED")
        #expect(post(fixture, path("list"), body, token: reader).status == 200)
        check(post(fixture, path("modify"), body, token: mail), 404, "NOT_FOUND")
        check(post(fixture, path("modify", database: "secret"), body, token: token), 404, "NOT_FOUND")
        check(post(fixture, path("what"), body, token: token), 404, "NOT_FOUND")
        for bad in ["", "[]", "{", "{}", #"{"operations":1}"#] {
            check(post(fixture, path("modify"), bad, token: token), 400, "BAD_REQUEST")
        }
        let many = Array(repeating: "{}", count: 201).joined(separator: ",")
        check(post(fixture, path("modify"), #"{"operations":[\#(many)]}"#, token: token), 400, "BAD_REQUEST")
        let elsewhere = path("modify").split(separator: Self.container).joined(separator: "iCloud.com.example.no")
        check(post(fixture, elsewhere, body, token: token), 404, "NOT_FOUND")
    }

    @Test(
        "A token that is registered makes a device of the user, once", arguments: ["database", "device"],
        ServedStore.Kind.allCases)
    func tokens(first: String, _ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let path = "/\(first)/1/\(Self.container)/development/tokens"
        let digits = String(repeating: "ab", count: 32)
        let body = #"{"apnsEnvironment":"development","apnsToken":"\#(digits)"}"#
        for _ in 0..<2 { #expect(post(fixture, "\(path)/register", body, token: token).status == 200) }
        let devices = try fixture.registry().devices(matching: DeviceFilter(userID: "mei"), after: nil, limit: 9)
        #expect(devices.map(\.token.hexadecimal) == [digits])
        #expect(devices.map(\.platform) == [.apnsSandbox])
        let base64 = #"{"apnsEnvironment":"production","apnsToken":"3q2+7w=="}"#
        #expect(post(fixture, "\(path)/register", base64, token: token).status == 200)
        let audience = AudienceRequest(audience: .users(["mei"], app: "chat"))
        let found = try fixture.registry().resolve([audience], limit: 9).first?.devices ?? []
        #expect(Set(found.map(\.token.hexadecimal)) == [digits, "deadbeef"])
        _ = post(fixture, "\(path)/register", body, user: "bob", token: token)
        let bobs = try fixture.registry().devices(matching: DeviceFilter(userID: "bob"), after: nil, limit: 9)
        #expect(bobs.map(\.token.hexadecimal) == [digits] && bobs[0].deviceID != devices[0].deviceID)
        for bad in [#"{"apnsToken":"abcd"}"#, #"{"apnsEnvironment":"production","apnsToken":"*"}"#, "{}"] {
            #expect(post(fixture, "\(path)/register", bad, token: token).status == 400)
        }
    }
}
