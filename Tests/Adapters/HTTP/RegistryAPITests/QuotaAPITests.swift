import JSON
import Predicates
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("Quotas and pages in the registry's API", .ownThread)
struct QuotaAPITests {
    private func fixture(
        _ kind: ServedStore.Kind, _ quota: RegistryQuota, _ limit: Int
    ) async throws -> RegistryFixture {
        try await RegistryFixture(kind, quotas: RegistryQuotas(limits: [quota: limit]))
    }

    private func device(_ client: NativeClient, _ name: String, user: String = "mei") -> PlainHTTP.Answer {
        let token = name.utf8.map { String($0, radix: 16) }.joined()
        return client.send(
            "PUT", "/v1/devices/\(name)",
            #"{"platform":"APNS","token":"\#(token)","app":"chat","userId":"\#(user)","#
                + #""identityPoolId":"\#(RegistryFixture.pool)","identityId":"us-east-1:\#(name)"}"#)
    }

    @Test(
        "The native API refuses what would exceed a quota with 403, and stays healthy",
        arguments: ServedStore.Kind.allCases)
    func native(_ kind: ServedStore.Kind) async throws {
        for (quota, path) in [
            (RegistryQuota.subscriptionsPerOwner, "/v1/apps/chat/users/mei/subscriptions/"),
            (.subscriptionsPerOwner, "/v1/devices/d1/subscriptions/"),
            (.subscriptionBytesPerApp, "/v1/devices/d1/subscriptions/"), (.topicsPerOwner, "/v1/devices/d1/topics/"),
            (.topicsPerOwner, "/v1/apps/chat/users/mei/topics/"), (.datasetsPerOwner, "/v1/devices/d1/datasets/"),
            (.devicesPerOwner, "/v1/devices/"),
        ] {
            let fixture = try await fixture(kind, quota, quota == .subscriptionBytesPerApp ? 30 : 1)
            defer { fixture.server.stop() }
            let client = try NativeClient(fixture)
            #expect(device(client, "d1").status == 201)
            func put(_ name: String) -> PlainHTTP.Answer {
                if quota == .devicesPerOwner { return device(client, "d\(name)") }
                return client.send("PUT", path + name, path.contains("subscriptions") ? #"{"recordType":"A"}"# : "")
            }
            let first = quota == .devicesPerOwner ? "d1" : "1"
            var answers = [put("1")]
            for number in 2...40 where answers.last?.status != 403 { answers.append(put("\(number)")) }
            #expect(answers.last?.status == 403, "\(quota)")
            #expect(answers.last?.body.contains(#""code":"quota-exceeded""#) == true)
            #expect(answers.last?.body.contains("registry.quotas.\(quota.rawValue)") == true)
            #expect((200..<300).contains(put("1").status), "what is there can be sent again")
            #expect((200..<300).contains(client.send("DELETE", path + first).status))
            if quota != .datasetsPerOwner { #expect((200..<300).contains(put("2").status), "\(quota)") }
        }
    }

    @Test(
        "CloudKit is told which of its operations exceed a quota; the others are carried out",
        arguments: ServedStore.Kind.allCases)
    func cloudKit(_ kind: ServedStore.Kind) async throws {
        let fixture = try await fixture(kind, .subscriptionsPerOwner, 2)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture, app: "chat")
        let path = "/database/1/iCloud.com.example.chat/production/private/subscriptions/"
        func post(_ operation: String, _ body: String) throws -> [(name: String?, error: String?)] {
            let answer = PlainHTTP.request(
                "POST", "\(path)\(operation)?ckAPIToken=\(token)&ckWebAuthToken=mei", port: fixture.server.port,
                body: body)
            #expect(answer.status == 200)
            let list = try JSONParser().parse(answer.body)["subscriptions"]?.array
            return list?.map { ($0["subscriptionID"]?.string, $0["serverErrorCode"]?.string) } ?? []
        }
        let operations = (1...3).map {
            #"{"operationType":"create","subscription":{"subscriptionID":"s\#($0)","subscriptionType":"database"}}"#
        }
        let made = try post("modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
        #expect(made.map(\.name) == ["s1", "s2", "s3"])
        #expect(made.map(\.error) == [nil, nil, "QUOTA_EXCEEDED"])
        #expect(try post("list", "").map(\.name) == ["s1", "s2"])
    }

    @Test("Cognito Sync is told LimitExceededException, which its clients know", arguments: ServedStore.Kind.allCases)
    func cognito(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(
            kind, quotas: RegistryQuotas(limits: [.datasetsPerOwner: 1, .devicesPerOwner: 1]))
        defer { fixture.server.stop() }
        let result = try await fixture.python("quotas")
        #expect(result.exitCode == 0, "if boto3 is missing: apt-get install python3-boto3\n\(result.errors)")
    }

    @Test(
        "A list of large subscriptions comes in pages of about a mebibyte, and CloudKit's as a whole",
        arguments: ServedStore.Kind.allCases)
    func largePages(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let conditions = (0..<60).map { "a BEGINSWITH \"\($0)\(String(repeating: "x", count: 1_000))\"" }
        let predicate = try Predicate(parsing: conditions.joined(separator: " OR "))
        let registry = try fixture.registry()
        _ = try registry.save(
            (0..<20).map { number in
                RecordSubscription(
                    key: SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: "s\(number)"),
                    recordType: "Song", predicate: predicate, firesOn: .created, savedAtMilliseconds: 0)
            })
        var found: [String] = []
        var after = ""
        repeat {
            let answer = client.send("GET", "/v1/subscriptions?limit=1000\(after)")
            #expect(answer.body.utf8.count < 1_048_576 + 70_000)
            let page = try JSONParser().parse(answer.body)
            found += page["subscriptions"]?.array?.compactMap { $0["subscriptionId"]?.string } ?? []
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        #expect(found == (0..<20).map { "s\($0)" })
        let token = try NativeClient.token(fixture, app: "chat")
        let listed = PlainHTTP.request(
            "POST",
            "/database/1/iCloud.com.example.chat/production/public/subscriptions/list?ckAPIToken=\(token)"
                + "&ckWebAuthToken=mei", port: fixture.server.port)
        #expect(try JSONParser(bytesMaximum: 4 << 20).parse(listed.body)["subscriptions"]?.array?.count == 20)
    }

    private func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("Counts come in pages", arguments: ServedStore.Kind.allCases)
    func counts(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        for (name, type) in [("1", "B"), ("2", "a/b"), ("3", "c d")] {
            client.send("PUT", "/v1/apps/chat/users/mei/subscriptions/\(name)", #"{"recordType":"\#(type)"}"#)
        }
        client.send("PUT", "/v1/apps/chat/users/mei/subscriptions/all", #"{"type":"database","database":"private"}"#)
        client.send("PUT", "/v1/apps/mail/users/mei/subscriptions/all", #"{"recordType":"M"}"#)
        var found: [String] = []
        var after = ""
        repeat {
            let page = try JSONParser().parse(client.send("GET", "/v1/subscriptions/counts?limit=2\(after)").body)
            for count in page["counts"]?.array.map(Array.init) ?? [] {
                found.append("\(count["app"]?.string ?? "") \(count["recordType"]?.string ?? "-")")
            }
            after = page["next"]?.string.map { "&after=" + percentEncoded($0) } ?? ""
        } while !after.isEmpty
        #expect(found == ["chat -", "chat B", "chat a/b", "chat c d", "mail M"])
        #expect(client.send("GET", "/v1/subscriptions/counts?after=nonsense").status == 400)
    }

    @Test(
        "A device with more datasets than an answer names says how to get the rest",
        arguments: ServedStore.Kind.allCases)
    func datasets(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        #expect(device(client, "d").status == 201)
        let registry = try fixture.registry()
        let names = (0..<1_500).map { "dataset-\(10_000 + $0)" }
        try registry.register([
            DeviceRegistration(device: try #require(try registry.device("d")), datasetNames: names)
        ])
        let first = try JSONParser().parse(client.send("GET", "/v1/devices/d").body)
        #expect(first["datasets"]?.array?.compactMap(\.string) == Array(names.prefix(1_000)))
        let next = try #require(first["nextDatasets"]?.string)
        let second = try JSONParser().parse(client.send("GET", "/v1/devices/d?datasetsAfter=\(next)").body)
        #expect(second["datasets"]?.array?.compactMap(\.string) == Array(names.dropFirst(1_000)))
        #expect(second["nextDatasets"] == nil)
    }
}
