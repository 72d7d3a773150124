import Essentials
import JSON
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("Names that look the same and have other bytes, at the doors of the API", .ownThread)
struct LookalikeNameTests {
    /// The letter é as one scalar and as two, as it is and in a URL.
    private static let names = ["\u{e9}", "e\u{301}"]
    private static let paths = ["%C3%A9", "e%CC%81"]
    private static let controls = ["%01", "%0A", "%7F", "%C2%80", "%C2%9F"]

    @Test(
        "The native API keeps them apart: devices, users, topics and subscriptions",
        arguments: ServedStore.Kind.allCases)
    func native(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        for (index, path) in Self.paths.enumerated() {
            let body = #"{"platform":"APNS","token":"0\#(index)","app":"chat","userId":"\#(Self.names[index])"}"#
            #expect(client.send("PUT", "/v1/devices/\(path)", body).status == 201)
        }
        for (path, name) in zip(Self.paths, Self.names) {
            let found = client.send("GET", "/v1/devices?userId=\(path)").body
            let devices = try #require(try JSONParser().parse(found)["devices"]?.array)
            #expect(try Array(devices).map { try ByteText(#require($0["deviceId"]?.string)) } == [ByteText(name)])
            #expect(client.send("PUT", "/v1/devices/\(Self.paths[0])/topics/\(path)").status == 204)
            let subscription = #"{"recordType":"\#(name)","notificationInfo":{"title":"x"}}"#
            #expect(
                client.send("PUT", "/v1/apps/chat/users/\(Self.paths[0])/subscriptions/\(path)", subscription).status
                    < 300)
        }
        let topics = try fixture.registry().topics(app: "chat", after: nil, limit: 9).map { ByteText($0.topic) }
        #expect(topics == Self.names.map(ByteText.init).sorted() && topics.count == 2)
        #expect(try fixture.registry().subscriptions(matching: SubscriptionFilter(), after: nil, limit: 9).count == 2)
        #expect(client.send("DELETE", "/v1/devices/\(Self.paths[0])").status == 204)
        #expect(client.send("GET", "/v1/devices/\(Self.paths[1])").status == 200)
    }

    @Test(
        "CloudKit's dialect keeps them apart: a token stays with the user who registered it",
        arguments: ServedStore.Kind.allCases)
    func cloudKit(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        func post(_ path: String, _ user: String, _ body: String) -> PlainHTTP.Answer {
            let target = "/database/1/iCloud.com.example.chat/production/\(path)?ckAPIToken=\(token)"
            return PlainHTTP.request(
                "POST", "\(target)&ckWebAuthToken=\(user)", port: fixture.server.port, body: body)
        }
        // The device is not taken for the other user's, so it gets another identifier with its new owner.
        var identifiers: Set<String> = []
        for user in Self.paths {
            let body = #"{"apnsEnvironment":"production","apnsToken":"abcd"}"#
            #expect(post("tokens/register", user, body).status == 200)
            let devices = try fixture.registry().devices(matching: DeviceFilter(), after: nil, limit: 9)
            identifiers.formUnion(devices.map(\.deviceID))
        }
        #expect(identifiers.count == 2)
        var urls: Set<String> = []
        for name in Self.names {
            let body = #"{"apnsEnvironment":"production","clientId":"\#(name)"}"#
            let answer = post("tokens/create", "mei", body)
            urls.insert(try #require(try JSONParser().parse(answer.body)["webcourierURL"]?.string))
            let subscription =
                #"{"subscriptionID":"\#(name)","subscriptionType":"query","query":{"recordType":"\#(name)","#
                + #""filterBy":[]},"firesOn":["create"],"zoneWide":true,"notificationInfo":{"alertBody":"b"}}"#
            let operation = #"{"operations":[{"operationType":"create","subscription":\#(subscription)}]}"#
            let saved = post("public/subscriptions/modify", "mei", operation)
            #expect(saved.status == 200 && !saved.body.contains("serverErrorCode"), "\(saved)")
        }
        #expect(urls.count == 2)
        #expect(try fixture.registry().subscriptions(matching: SubscriptionFilter(), after: nil, limit: 9).count == 2)
        let broken = #"{"apnsEnvironment":"production","clientId":"a\n"}"#
        #expect(post("tokens/create", "mei", broken).status == 400)
    }

    @Test("Cognito's dialect keeps the identifiers of devices apart", arguments: ServedStore.Kind.allCases)
    func cognito(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let identity = "us-east-1:be6f7d55-5c32-4be4-a2fa-ff0a4a0f1a7e"
        try fixture.registry().upsert(
            try Self.names.map { name in
                Device(
                    deviceID: name, platform: .apns, token: try #require(DeviceToken(bytes: Array(name.utf8))),
                    app: "chat", identityPoolID: RegistryFixture.pool, identityID: identity,
                    registeredAtMilliseconds: 1)
            })
        let result = try await fixture.python("lookalikes")
        #expect(result.exitCode == 0, "if boto3 is missing: apt-get install python3-boto3\n\(result.errors)")
        let subscribed = try Self.names.map { try fixture.registry().datasetSubscriptions(of: $0).datasetNames }
        #expect(subscribed == [["first"], ["second"]])
    }

    @Test("Control characters in names are refused with what the rule is", arguments: controls)
    func controlCharacters(_ control: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let device = #"{"platform":"APNS","token":"ab","app":"chat"}"#
        #expect(client.send("PUT", "/v1/devices/d", device).status == 201)
        let subscription = #"{"recordType":"A","notificationInfo":{"title":"x"}}"#
        for (path, body) in [
            ("/v1/devices/a\(control)", device), ("/v1/devices/d/topics/\(control)", ""),
            ("/v1/apps/chat/users/\(control)/topics/t", ""), ("/v1/apps/chat/users/u/topics/\(control)b", ""),
            ("/v1/devices/d/subscriptions/\(control)", subscription),
            ("/v1/apps/chat/users/\(control)/subscriptions/s", subscription),
        ] {
            let answer = client.send("PUT", path, body)
            #expect(answer.status == 400, "\(path): \(answer)")
            #expect(answer.body.contains("without control characters"), "\(answer)")
        }
    }
}
