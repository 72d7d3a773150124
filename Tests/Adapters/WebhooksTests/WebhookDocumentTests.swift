import Foundation
import PushTestKit
import Testing
import Webhooks

@Suite("The document of webhooks", .timeLimit(.minutes(10)))
struct WebhookDocumentTests {
    private static let oldSecret = "whsec_" + String(repeating: "b2xk", count: 8)
    private static let foreignSecret = "whsec_" + String(repeating: "bm90", count: 8)

    /// The function of deploy/webhooks.md that verifies a request.
    private static func example() throws -> String {
        let root = #filePath.components(separatedBy: "/Tests/").dropLast().joined(separator: "/Tests/")
        let document = try String(contentsOfFile: root + "/deploy/webhooks.md", encoding: .utf8)
        let block = try #require(document.components(separatedBy: "```python\n").dropFirst().first)
        return try #require(block.components(separatedBy: "```").first)
    }

    @Test("The example in Python takes what a service posts, also with two secrets, and nothing that was changed")
    func example() async throws {
        let fixture = try await WebhookFixture(apps: ["chat"])
        var endpoint = try fixture.endpoint("chat")
        endpoint.secrets.insert(try #require(WebhookSecret(Self.oldSecret)), at: 0)
        let service = try fixture.start([endpoint])
        try await fixture.publish(["one"], app: "chat")
        try await fixture.wait(for: 1, at: "/chat")
        #expect(await service.stop(withinSeconds: 10))
        let request = try #require(fixture.requests(at: "/chat").first)
        let body = try fixture.folder.write("body", String(decoding: request.body, as: UTF8.self))
        let script = try fixture.folder.write(
            "verify.py",
            try Self.example() + """

                import sys
                body = open(sys.argv[1], "rb").read()
                headers = dict(zip(("webhook-id", "webhook-timestamp", "webhook-signature"), sys.argv[2:5]))
                for secret in sys.argv[5:]:
                    print(verify(secret, headers, body))
                print(verify(secret, headers, body + b" "), verify(secret, headers | {"webhook-id": "two"}, body),
                      verify(secret, headers | {"webhook-timestamp": "1"}, body))
                """)
        let result = try await CommandRunner.run(
            "/usr/bin/python3",
            [script, body, request.identifier, request.timestamp, request.signature]
                + [WebhookFixture.secretText, Self.foreignSecret, Self.oldSecret], in: fixture.folder)
        #expect(result.output == "True\nFalse\nTrue\nFalse False False\n", "\(result)")
        fixture.end()
    }
}
