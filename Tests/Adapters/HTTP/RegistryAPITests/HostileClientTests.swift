import Notifications
import PushTestKit
import RegistryAPI
import TestTraits
import Testing

@Suite("Clients that mean harm, and a registry that fails", .ownThread)
struct HostileClientTests {
    /// Requests that are right, to be spoilt.
    private static let requests: [(method: String, path: String, body: String)] = [
        ("PUT", "/v1/devices/d", #"{"platform":"APNS","token":"ab12","app":"chat","userId":"mei","topics":["t"]}"#),
        ("GET", "/v1/devices?app=chat&limit=3&after=a", ""), ("PUT", "/v1/devices/d/badge", #"{"badge":3}"#),
        ("PUT", "/v1/apps/chat/users/mei/topics/t", ""), ("GET", "/v1/apps/chat/topics?limit=2", ""),
        (
            "PUT", "/v1/devices/d/subscriptions/s",
            #"{"recordType":"A","filterBy":[{"comparator":"NEAR","fieldName":"a","fieldValue":{"value":"#
                + #"{"latitude":1,"longitude":2},"type":"LOCATION"},"distance":5}],"notificationInfo":{"title":"x"}}"#
        ),
        (
            "PUT", "/v1/apps/chat/users/mei/subscriptions/s",
            #"{"recordType":"A","predicate":"a = 1 OR b IN {1, \"c\"}"}"#
        ),
        (
            "PUT", "/v1/devices/d/subscriptions/t",
            #"{"recordType":"A","filterGroup":[{"filters":[{"fieldName":"a","operator":"between","value":[1,2]}]}]}"#
        ), ("GET", "/v1/subscriptions?recordType=A&limit=2", ""), ("DELETE", "/v1/identities/i", ""),
        ("GET", "/v1/campaigns?app=chat&before=9&limit=2", ""),
        ("GET", "/v1/campaigns/chat/spring?from=2026-01-01T00:00:00Z&through=2026-01-02T00:00:00Z", ""),
        ("POST", "/v1/opens", #"{"deviceId":"d","token":"ab12","receipts":["AQAHffgAAQIDBAUGBwgJCgsMDQ4PBGNoYXQ"]}"#),
        (
            "POST", "/database/1/iCloud.com.example.chat/production/public/subscriptions/modify?ckWebAuthToken=mei",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
                + #""subscriptionType":"query","query":{"#
                + #""recordType":"A","filterBy":[{"comparator":"IN","fieldName":"a","fieldValue":{"value":["#
                + #"1,2],"type":"INT64_LIST"}}]},"firesOn":["create"],"zoneID":{"zoneName":"z"}}}]}"#
        ),
        (
            "POST", "/device/1/iCloud.com.example.chat/production/tokens/register?ckWebAuthToken=mei",
            #"{"apnsEnvironment":"production","apnsToken":"3q2+7w=="}"#
        ),
        (
            "POST", "/identitypools/us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c/identity/us-east-1:00/device",
            #"{"Platform":"APNS","Token":"ab12"}"#
        ),
    ]

    @Test("A request for a host that is not served is 421 in every dialect, even with a credential")
    func foreignHosts() throws {
        let fixture = try RegistryFixture {
            $0.hosts = ["push.example"]
            $0.publicURL = "https://public.example:8443"
        }
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        func ask(_ path: String, _ host: String) -> PlainHTTP.Answer {
            PlainHTTP.exchange(
                "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(token)\r\nConnection: close\r\n\r\n",
                fixture.server.port)
        }
        for host in ["push.example", "PUBLIC.example:8443", "localhost", "127.0.0.1"] {
            #expect(ask("/v1/devices", host).status == 200, "\(host)")
        }
        let paths = ["/v1/devices", "/database/1/x", "/identitypools/x", "/courier/x", "/none"]
        for (path, host) in zip(paths, ["evil.example", "push.example.evil.example", "a", "x.push.example", "b"]) {
            let answer = ask(path, host)
            #expect(answer.status == 421 && answer.body.contains("this host is not served here"), "\(answer)")
        }
    }

    @Test(
        "Whatever is sent, the answer is never that the server failed, and it goes on",
        arguments: ServedStore.Kind.allCases)
    func spoiltRequests(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind) { $0.requestsPerSecondMaximum = 100_000 }
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var answered = 0
        for round in 0..<1_500 {
            let request = Self.requests[round % Self.requests.count]
            let path = spoilt(request.path, byMost: round < 100 ? 0 : 3, &generator)
            let body = spoilt(request.body, byMost: round < 100 ? 0 : 4, &generator)
            let answer = PlainHTTP.exchange(
                "\(request.method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)", fixture.server.port)
            #expect(answer.status < 500, "seed \(seed), round \(round): \(request.method) \(path) \(body): \(answer)")
            if answer.status > 0 { answered += 1 }
        }
        #expect(answered > 1_000, "seed \(seed)")
        #expect(PlainHTTP.request("GET", "/openapi.json", port: fixture.server.port).status == 200)
    }

    /// Replaces, removes, doubles or inserts a few characters.
    private func spoilt(_ text: String, byMost count: Int, _ generator: inout SeededGenerator) -> String {
        var characters = Array(text.unicodeScalars)
        let pieces = Array("{}[]\":,%/?&=0123456789aA-_. \\\u{e9}\u{1F600}\u{0}nulltrue".unicodeScalars)
        for _ in 0..<Int.random(in: 0...count, using: &generator) where !characters.isEmpty {
            let index = Int.random(in: 0..<characters.count, using: &generator)
            let piece = pieces.randomElement(using: &generator) ?? "a"
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: characters[index] = piece
            case 1: characters.remove(at: index)
            case 2: characters.insert(piece, at: index)
            default: characters.insert(contentsOf: characters[index...].prefix(20), at: index)
            }
        }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: characters)
        return String(result)
    }

    @Test(
        "A registry that is locked is told of as such in each dialect, and readiness sees it",
        arguments: ServedStore.Kind.allCases)
    func lockedRegistry(_ kind: ServedStore.Kind) async throws {
        let store = try await ServedStore(kind, lockMilliseconds: 50)
        #expect(store.putDevice(0).status == 201)
        let unlock = try store.lock()
        let busy = store.putDevice(0)
        #expect(busy.status == 503 && busy.headers["retry-after"] == "1" && !busy.body.contains(store.path))
        #expect(store.server.failure != nil)
        let cloudKit = store.send(
            "POST", "/device/1/iCloud.com.example.chat/production/tokens/register?ckWebAuthToken=mei",
            #"{"apnsEnvironment":"production","apnsToken":"abcd"}"#)
        #expect(cloudKit.status == 503 && cloudKit.body.contains("TRY_AGAIN_LATER"))
        unlock()
        // A client that routes by the server's health sends no request that would find out that the registry is back.
        try await eventually("the server to be well") {
            store.server.failure
        } until: {
            $0 == nil
        }
        #expect(store.putDevice(0).status == 200)
    }
}
