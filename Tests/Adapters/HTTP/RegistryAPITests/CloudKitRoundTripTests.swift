import ChangeEvents
import JSON
import Predicates
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("A subscription that a client of CloudKit Web Services reads and sends back", .ownThread)
struct CloudKitRoundTripTests {
    private struct Client {
        let fixture: RegistryFixture
        let token: String

        init(_ kind: ServedStore.Kind = .sqlite) async throws {
            fixture = try await RegistryFixture(kind)
            token = try NativeClient.token(fixture, app: "chat")
        }

        func send(_ operation: String, _ body: String, _ database: RecordDatabase = .public) -> PlainHTTP.Answer {
            PlainHTTP.request(
                "POST",
                "/database/1/iCloud.com.example.chat/production/\(database.rawValue)/subscriptions/\(operation)"
                    + "?ckAPIToken=\(token)&ckWebAuthToken=mei", port: fixture.server.port, body: body)
        }

        func modify(
            _ type: String, _ dictionaries: [String], _ database: RecordDatabase = .public
        ) -> PlainHTTP.Answer {
            let operations = dictionaries.map { #"{"operationType":"\#(type)","subscription":\#($0)}"# }
            return send("modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#, database)
        }

        func lookup(_ names: [String], _ database: RecordDatabase = .public) -> PlainHTTP.Answer {
            let list = names.map { #"{"subscriptionID":"\#($0)"}"# }
            return send("lookup", #"{"subscriptions":[\#(list.joined(separator: ","))]}"#, database)
        }
    }

    private static func key(_ name: String) -> SubscriptionKey {
        SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: name)
    }

    private static func elements(_ answer: PlainHTTP.Answer) throws -> [String] {
        let parser = JSONParser()
        let array = try #require(try parser.parse(answer.body)["subscriptions"]?.array)
        return array.map { String(decoding: $0.minified, as: UTF8.self) }
    }

    /// Returns subscriptions by their meaning, without the time and the words with which they were saved.
    private static func meanings(_ names: [String], _ registry: any ServedRegistry) throws -> [RecordSubscription] {
        try names.map { name in
            var subscription = try #require(try registry.subscription(key(name))).subscription
            subscription.savedAtMilliseconds = 0
            subscription.cloudKitJSON = nil
            return subscription
        }
    }

    @Test(
        "It means the same, and is answered the same byte for byte, whichever client made it",
        arguments: RecordDatabase.allCases,
        ServedStore.Kind.allCases)
    func roundTrip(database: RecordDatabase, _ kind: ServedStore.Kind) async throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = RandomSubscriptions(seed: seed)
        let client = try await Client(kind)
        defer { client.fixture.server.stop() }
        let registry = try client.fixture.registry()
        let natives = (0..<60).map { "native\($0)" }
        _ = try registry.save(try natives.map { try random.subscription(Self.key($0), database) })
        let others = (0..<60).map { "client\($0)" }
        let created = client.modify("create", others.map { random.dictionary($0, database) }, database)
        #expect(created.status == 200 && !created.body.contains("serverErrorCode"), "seed \(seed): \(created.body)")
        for names in [natives, others] {
            let meanings = try Self.meanings(names, registry)
            let first = client.lookup(names, database)
            if names == others { #expect(first.body == created.body, "seed \(seed)") }
            for round in 0..<2 {
                let updated = client.modify("update", try Self.elements(first), database)
                #expect(updated.body == first.body, "seed \(seed), round \(round)")
                #expect(client.lookup(names, database).body == first.body, "seed \(seed), round \(round)")
                #expect(try Self.meanings(names, registry) == meanings, "seed \(seed), round \(round)")
            }
        }
    }

    @Test("What the client wrote comes back in its own words", arguments: ServedStore.Kind.allCases)
    func ownWords(_ kind: ServedStore.Kind) async throws {
        let client = try await Client(kind)
        defer { client.fixture.server.stop() }
        let query =
            #"{"sortBy":[{"fieldName":"b"}],"filterBy":["#
            + #"{"fieldName":"b","fieldValue":{"value":2},"comparator":"EQUALS"},"#
            + #"{"comparator":"EQUALS","fieldName":"a","fieldValue":"#
            + #"{"value":{"recordName":"x","zoneID":{"zoneName":"z"}}}}],"#
            + #""recordType":"A"}"#
        let zone = #"{"ownerRecordName":"_abc","zoneName":"notes"}"#
        let info = #"{"shouldSendContentAvailable":true,"alertLocalizationArgs":["a"],"desiredKeys":["b","a"]}"#
        let answer = client.modify(
            "create",
            [
                #"{"notificationInfo":\#(info),"zoneID":\#(zone),"firesOn":["update","create"],"subscriptionID":"s","#
                    + #""query":\#(query),"subscriptionType":"query"}"#
            ], .private)
        #expect(
            answer.body
                == #"{"subscriptions":[{"subscriptionID":"s","subscriptionType":"query","query":\#(query),"#
                + #""firesOn":["update","create"],"firesOnce":false,"zoneWide":false,"zoneID":\#(zone),"#
                + #""notificationInfo":\#(info)}]}"#)
        let stored = try #require(try client.fixture.registry().subscription(Self.key("s"))).subscription
        #expect(stored.notification.additionalFields == ["b", "a"] && stored.notification.localizedAlert == nil)
        #expect(stored.zoneName == "notes")
    }

    @Test(
        "A subscription to a zone or a database may say zoneWide, which clients write for every kind",
        arguments: ServedStore.Kind.allCases)
    func zoneWideOfOthers(_ kind: ServedStore.Kind) async throws {
        let client = try await Client(kind)
        defer { client.fixture.server.stop() }
        for (kind, zone) in [("zone", #""zoneID":{"zoneName":"notes"},"#), ("database", "")] {
            let saved = client.modify(
                "create", [#"{"subscriptionID":"\#(kind)","subscriptionType":"\#(kind)",\#(zone)"zoneWide":false}"#],
                .private)
            let answered = try #require(try Self.elements(saved).first)
            #expect(answered.contains(#""zoneWide":false"#), "\(answered)")
            #expect(try Self.elements(client.modify("update", [answered], .private)) == [answered])
        }
    }

    @Test(
        "A predicate that no filter says comes back as it was answered, and no other is taken for it",
        arguments: ServedStore.Kind.allCases)
    func predicateText(_ kind: ServedStore.Kind) async throws {
        let client = try await Client(kind)
        defer { client.fixture.server.stop() }
        let registry = try client.fixture.registry()
        let predicate = try Predicate(parsing: "a = 1 OR b BEGINSWITH \"x\"")
        _ = try registry.save([
            RecordSubscription(key: Self.key("s"), recordType: "A", predicate: predicate, savedAtMilliseconds: 1)
        ])
        let answered = try #require(try Self.elements(client.lookup(["s"])).first)
        #expect(answered.contains(#""predicate":"#))
        func check(_ dictionary: String, _ mention: String?, _ type: String = "update") throws {
            let answer = client.modify(type, [dictionary]).body
            if let mention {
                #expect(answer.contains("BAD_REQUEST") && answer.contains(mention), "\(dictionary): \(answer)")
            } else {
                #expect(!answer.contains("serverErrorCode"), "\(dictionary): \(answer)")
            }
            #expect(try registry.subscription(Self.key("s"))?.subscription.predicate == predicate)
        }
        try check(answered, nil)
        let spelled = answered.split(separator: #""predicate":""#)[0]
        let rest = #""},"firesOn":["create"]}"#
        try check(spelled + #""predicate":"b BEGINSWITH 'x'  ||  a == 1"# + rest, nil)
        try check(spelled + #""predicate":"a = 1"# + rest, "query.predicate")
        try check(spelled + #""predicate":"a ="# + rest, "query.predicate")
        try check(spelled + #""filterBy":[],"predicate":"TRUEPREDICATE"# + rest, "query.predicate")
        let copied = answered.split(separator: #""subscriptionID":"s""#).joined(separator: #""subscriptionID":"t""#)
        try check(copied, "query.predicate", "create")
        #expect(try registry.subscription(Self.key("t")) == nil)
    }

    @Test(
        "What is not understood is refused by its name, and nothing is saved",
        arguments: [
            (#""colour":1"#, "colour"), (#""firesOnce":"no""#, "firesOnce"), (#""recordType":"A""#, "recordType"),
            (#""zoneID":{"zoneName":"z","zone":"y"}"#, "zone"),
            (#""zoneID":{"zoneName":"z","ownerName":1}"#, "ownerName"),
            (#""notificationInfo":{"alert":"x"}"#, "alertBody"), (#""notificationInfo":{"soundNam":"x"}"#, "soundNam"),
            (#""notificationInfo":{"desiredKeys":["a"],"additionalFields":["b"]}"#, "desiredKeys"),
            (#""firesOnce":true,"firesOnce":false"#, "firesOnce"), (#""subscriptionType":"query""#, "subscriptionType"),
        ])
    func unknownMembers(member: String, mention: String) async throws {
        let client = try await Client()
        defer { client.fixture.server.stop() }
        let rest = #""subscriptionID":"s","subscriptionType":"query","query":{"recordType":"A"},"firesOn":["create"]"#
        let answer = client.modify("create", ["{\(rest),\(member)}"]).body
        #expect(answer.contains("BAD_REQUEST") && answer.contains(mention), "\(answer)")
        #expect(try client.fixture.registry().subscription(Self.key("s")) == nil)
    }

    @Test(
        "What is not understood in a query is refused by its name",
        arguments: [
            (#""colour":1"#, "colour"), (#""sortBy":{}"#, "sortBy"), (#""recordType":"B""#, "recordType"),
            (#""filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1},"weight":2}]"#, "weight"),
            (#""filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1,"typ":"INT64"}}]"#, "typ"),
            (
                #""filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":"#
                    + #"{"recordName":"x","zone":1}}}]"#,
                "query.filterBy[0].fieldValue.value: found the unknown member"
            ),
            (
                #""filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":"#
                    + #"{"recordName":"x","zoneID":{"zoneName":"z","zone":"y"}},"type":"REFERENCE"}}]"#,
                "query.filterBy[0].fieldValue.value.zoneID"
            ),
            (
                #""filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldName":"b","fieldValue":{"value":1}}]"#,
                "twice"
            ),
            (
                #""filterBy":[{"comparator":"EQUALS","fieldName":"a","systemFieldName":"b","fieldValue":{"value":1}}]"#,
                "systemFieldName"
            ),
        ])
    func unknownQueryMembers(member: String, mention: String) async throws {
        let client = try await Client()
        defer { client.fixture.server.stop() }
        let answer = client.modify(
            "create",
            [
                #"{"subscriptionID":"s","subscriptionType":"query","firesOn":["create"],"query":{"recordType":"A","#
                    + "\(member)}}"
            ]
        ).body
        #expect(answer.contains("BAD_REQUEST") && answer.contains(mention), "\(answer)")
    }

    @Test("A dictionary of more than 64 KiB is refused before it is looked at closely")
    func longDictionary() async throws {
        let client = try await Client()
        defer { client.fixture.server.stop() }
        let filler = String(repeating: "x", count: SubscriptionRules.cloudKitJSONBytesMaximum)
        let answer = client.modify("create", [#"{"subscriptionID":"s","subscriptionType":"\#(filler)"}"#]).body
        #expect(answer.contains("BAD_REQUEST") && answer.contains("65536"), "\(answer)")
    }
}
