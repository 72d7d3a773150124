import Glibc
import PushTestKit
import RegistryAPI
import RegistryCore
import SQLiteRegistry
import TestTraits
import Testing

@Suite("Whose long bodies are read by the API", .ownThread)
struct BodyAdmissionTests {
    private static let bodyBytes = 100_000
    private static let subscriptions = "/database/1/iCloud.com.example.chat/production/public/subscriptions"

    /// Sends the head of a request with a long body, and then the body if the server asks for it.
    private func ask(_ server: UInt16, _ line: String, _ fields: String, body: String) -> PlainHTTP.Answer {
        let client = PlainHTTP.connect(server)
        defer { close(client) }
        PlainHTTP.write(
            "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)Expect: 100-continue\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n", to: client)
        var first = [UInt8](repeating: 0, count: 12)
        guard recv(client, &first, first.count, Int32(MSG_PEEK | MSG_WAITALL)) == first.count else {
            return PlainHTTP.readToEnd(client)
        }
        guard String(decoding: first, as: UTF8.self) == "HTTP/1.1 100" else { return PlainHTTP.readToEnd(client) }
        var interim = [UInt8](repeating: 0, count: 25)
        #expect(recv(client, &interim, interim.count, Int32(MSG_WAITALL)) == interim.count)
        PlainHTTP.write(body, to: client)
        return PlainHTTP.readToEnd(client)
    }

    @Test(
        "A client without a credential, or with a made-up one, is not asked for a long body",
        arguments: [
            ("PUT /v1/devices/d", "", 401), ("PUT /v1/devices/d", "Authorization: Bearer apus_x\r\n", 401),
            ("PUT /v1/devices/d/subscriptions/s", "Authorization: Bearer apus_x\r\n", 401),
            ("POST \(subscriptions)/modify", "", 401), ("POST \(subscriptions)/modify?ckAPIToken=apus_x", "", 401),
            ("POST \(subscriptions)/modify", "X-Apple-CloudKit-Request-KeyID: x\r\n", 401),
            ("POST /identitypools/\(RegistryFixture.pool)/configuration", "", 403),
            (
                "POST /identitypools/\(RegistryFixture.pool)/configuration",
                "X-Amz-Date: 20200101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
                    + "Credential=AKIDNOBODY/20200101/us-east-1/cognito-sync/aws4_request, "
                    + "SignedHeaders=host;x-amz-date, Signature=00\r\n", 403
            ),
        ])
    func strangers(line: String, fields: String, status: Int) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let body = String(repeating: "x", count: Self.bodyBytes)
        let answer = ask(fixture.server.port, line, fields, body: body)
        #expect(answer.status == status, "\(answer)")
        #expect(answer.headers["connection"] == "close")
    }

    @Test(
        "A body in a coding is refused with 415 before it comes, in the words of each API",
        arguments: [
            ("PUT /v1/devices/d", "unsupported-media-type"), ("POST /v1/opens", "unsupported-media-type"),
            ("POST \(subscriptions)/modify", "BAD_REQUEST"),
            ("POST /identitypools/\(RegistryFixture.pool)/configuration", "InvalidParameterException"),
        ])
    func contentCoding(line: String, code: String) throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = "Authorization: Bearer \(try NativeClient.token(fixture))\r\n"
        for coding in ["gzip", "br", "identity, gzip", "GZIP"] {
            for bytes in [20, Self.bodyBytes] {
                let fields = "\(token)Content-Type: application/json\r\nContent-Encoding: \(coding)\r\n"
                let answer = ask(fixture.server.port, line, fields, body: String(repeating: "x", count: bytes))
                #expect(answer.status == 415 && answer.body.contains(code), "\(answer)")
                #expect(answer.headers["accept-encoding"] == "identity", "\(answer)")
            }
        }
        let identity = ask(fixture.server.port, line, "\(token)Content-Encoding: identity\r\n", body: "{}")
        #expect(identity.status != 415, "\(identity)")
    }

    @Test("The holder of a token sends long bodies, before and after it is known, until it is taken back")
    func holder() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let field = "Authorization: Bearer \(try NativeClient.token(fixture))\r\n"
        let body = #"{"platform":"APNS","token":"ab12","app":"chat"}"# + String(repeating: " ", count: Self.bodyBytes)
        for status in [201, 200] {
            #expect(ask(fixture.server.port, "PUT /v1/devices/d", field, body: body).status == status)
        }
        for token in try fixture.registry().tokens() { _ = try fixture.registry().removeToken(named: token.name) }
        for _ in 0..<2 { #expect(ask(fixture.server.port, "PUT /v1/devices/d", field, body: body).status == 401) }
    }

    @Test("A body that is too long for its route is 413 before any of it is read")
    func tooLong() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let field = "Authorization: Bearer \(try NativeClient.token(fixture))\r\n"
        let body = String(repeating: "x", count: Self.bodyBytes)
        #expect(ask(fixture.server.port, "PUT /v1/devices/d/badge", field, body: body).status == 413)
    }
}
