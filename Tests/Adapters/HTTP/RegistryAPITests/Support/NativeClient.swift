import JSON
import PushTestKit
import RegistryAPI
import RegistryCore
import SQLiteRegistry
import Testing

/// Talks to the native API, and holds each answer against the document.
struct NativeClient {
    let fixture: RegistryFixture
    let document: APIDocument
    var token: String?

    /// Fetches the document, and makes a token.
    init(_ fixture: RegistryFixture, app: String? = nil, permission: APIToken.Permission = .write) throws {
        self.fixture = fixture
        document = try APIDocument(PlainHTTP.request("GET", "/openapi.json", port: fixture.server.port).body)
        token = try Self.token(fixture, app: app, permission: permission)
    }

    /// Makes a token and keeps it in the registry.
    static func token(
        _ fixture: RegistryFixture, app: String? = nil, permission: APIToken.Permission = .write
    ) throws -> String {
        let token = BearerToken.random()
        try fixture.registry().saveToken(
            APIToken(
                name: "\(app ?? "all") \(permission)", digest: token.digest, app: app, permission: permission,
                createdAtMilliseconds: 1))
        return token.revealed
    }

    /// The same client with another token.
    func with(token: String?) -> NativeClient {
        var other = self
        other.token = token
        return other
    }

    /// Sends a request; the answer has to be one that the document tells of.
    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: String = "", type: String? = nil, fields more: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> PlainHTTP.Answer {
        var fields = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        if let type { fields += "Content-Type: \(type)\r\n" }
        fields += more
        let answer = PlainHTTP.exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)Content-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)", fixture.server.port)
        var violations = document.violations(
            method, path, status: answer.status, type: answer.headers["content-type"], body: answer.body)
        let isJSON = type == nil || type == "application/json"
        if answer.status < 300, isJSON { violations += document.violations(method, path, acceptedBody: body) }
        #expect(violations.isEmpty, "\(answer)", sourceLocation: sourceLocation)
        return answer
    }
}
