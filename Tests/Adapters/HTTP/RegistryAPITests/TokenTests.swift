import PushTestKit
import RegistryCore
import TestTraits
import Testing

@testable import RegistryAPI

@Suite("Bearer tokens", .ownThread)
struct TokenTests {
    private static let device = #"{"platform":"APNS","token":"ab12","app":"chat"}"#

    @Test("Without a token that is known nothing is told but that")
    func unauthenticated() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        for token in [nil, "", "x", "apus_", BearerToken.random().revealed, (client.token ?? "") + "x"] {
            let answer = client.with(token: token).send("GET", "/v1/devices/d")
            #expect(answer.status == 401)
            #expect(answer.headers["www-authenticate"] == "Bearer")
        }
        #expect(client.send("GET", "/v1/devices/d").status == 404)
    }

    @Test("A token may be shown under any case of the scheme, and only once")
    func schemes() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        func status(_ fields: String) -> Int {
            PlainHTTP.exchange(
                "GET /v1/devices HTTP/1.1\r\nHost: localhost\r\n\(fields)Connection: close\r\n\r\n", fixture.server.port
            ).status
        }
        #expect(status("Authorization: bearer \(token)\r\n") == 200)
        #expect(status("AUTHORIZATION: BEARER  \(token)\r\n") == 200)
        #expect(status("Authorization: Basic \(token)\r\n") == 401)
        #expect(status("Authorization: \(token)\r\n") == 401)
        #expect(status("Authorization: Bearer \(token)\r\nAuthorization: Bearer \(token)\r\n") == 401)
    }

    @Test("A token to read changes nothing", arguments: ServedStore.Kind.allCases)
    func readOnly(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let writer = try NativeClient(fixture)
        let reader = try NativeClient(fixture, permission: .read)
        #expect(reader.send("PUT", "/v1/devices/d", Self.device).status == 403)
        writer.send("PUT", "/v1/devices/d", Self.device)
        #expect(reader.send("GET", "/v1/devices/d").status == 200)
        for (method, path) in [
            ("DELETE", "/v1/devices/d"), ("PUT", "/v1/devices/d/badge"), ("DELETE", "/v1/users/u"),
            ("PUT", "/v1/devices/d/topics/t"),
        ] {
            #expect(reader.send(method, path).status == 403)
        }
        #expect(try fixture.registry().deviceCount() == 1)
    }

    @Test("A token of one app neither sees nor touches what is another's", arguments: ServedStore.Kind.allCases)
    func scoped(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let all = try NativeClient(fixture)
        let mail = try NativeClient(fixture, app: "mail")
        all.send("PUT", "/v1/devices/d", Self.device)
        #expect(mail.send("GET", "/v1/devices/d").status == 404)
        #expect(mail.send("DELETE", "/v1/devices/d").status == 404)
        #expect(mail.send("PUT", "/v1/devices/d/topics/t").status == 404)
        #expect(mail.send("PUT", "/v1/devices/d/badge", #"{"badge":1}"#).status == 404)
        #expect(mail.send("GET", "/v1/devices").body == #"{"devices":[]}"#)
        #expect(mail.send("GET", "/v1/devices?app=chat").status == 404)
        #expect(mail.send("GET", "/v1/apps/chat/topics").status == 404)
        #expect(mail.send("PUT", "/v1/devices/new", Self.device).status == 404)
        #expect(mail.send("PUT", "/v1/devices/d", #"{"platform":"APNS","token":"cd"}"#).status == 409)
        #expect(mail.send("DELETE", "/v1/users/u").status == 403)
        #expect(mail.send("DELETE", "/v1/identities/i%3A0").status == 403)
        #expect(mail.send("PUT", "/v1/devices/m", #"{"platform":"APNS","token":"cd"}"#).status == 201)
        #expect(all.send("GET", "/v1/devices/m").body.contains(#""app":"mail""#))
        #expect(try fixture.registry().device("d")?.app == "chat")
    }

    @Test("A token that is removed is worth nothing from the next request on", arguments: ServedStore.Kind.allCases)
    func removed(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        #expect(client.send("GET", "/v1/devices").status == 200)
        #expect(try fixture.registry().removeToken(named: "all write"))
        #expect(client.send("GET", "/v1/devices").status == 401)
    }

    @Test("A token that asks too often is told when to come again")
    func limited() throws {
        let fixture = try RegistryFixture { $0.requestsPerSecondMaximum = 1 }
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture)
        let answers = (0..<30).map { _ in client.send("GET", "/v1/devices") }
        #expect(answers[0].status == 200)
        let refused = try #require(answers.first { $0.status == 429 })
        #expect(refused.headers["retry-after"] == "1")
    }

    @Test("The registry keeps the digest and nothing else; no two tokens are alike")
    func digests() throws {
        let tokens = (0..<100).map { _ in BearerToken.random() }
        #expect(Set(tokens.map(\.revealed)).count == 100)
        #expect(tokens.allSatisfy { $0.revealed.count == 48 && $0.digest.count == 32 })
        #expect("\(tokens[0])" == "bearer token")
        let stored = tokens.enumerated().map { index, token in
            APIToken(name: "\(index)", digest: token.digest, app: nil, permission: .read, createdAtMilliseconds: 0)
        }
        for (index, token) in tokens.enumerated() {
            #expect(TokenVerifier.token(with: token.digest, among: stored)?.name == "\(index)")
        }
        #expect(TokenVerifier.token(with: BearerToken.random().digest, among: stored) == nil)
        #expect(TokenVerifier.token(with: [], among: stored) == nil)
    }
}
