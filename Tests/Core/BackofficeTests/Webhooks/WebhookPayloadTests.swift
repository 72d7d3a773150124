import Backoffice
import Essentials
import JSON
import Messages
import Notifications
import PushTestKit
import Testing

@Suite("The bodies of webhooks")
struct WebhookPayloadTests {
    private func violations(_ value: JSONValue) throws -> [String] {
        let schema = try JSONParser().parse(ExampleEvents.bytes("deploy/schemas/outcomes/outcome.json"))
        return JSONSchema(document: schema).violations(value, schema)
    }

    @Test("A body has the type, the time and the outcome as a worker wrote it, byte for byte")
    func body() throws {
        let example = try ExampleEvents.bytes("deploy/examples/outcomes/token-dead.json")
        var message = Message(
            headers: [MessageHeader("cloudEvents_time", .string("2025-11-25T17:00:00.187Z"))],
            body: example)
        message.properties.messageID = "0a3c0f5e-2c1d-8a4b-9e6f-1d2c3b4a5f60"
        let payload = try WebhookPayload(message)
        #expect(payload.identifier == "0a3c0f5e-2c1d-8a4b-9e6f-1d2c3b4a5f60")
        let head = #"{"type":"apus.push.token-dead","timestamp":"2025-11-25T17:00:00.187Z","data":"#
        #expect(payload.body == Array(head.utf8) + example + Array("}".utf8))
        #expect(try JSONParser().parse(payload.body)["data"]?["app"]?.string != nil)
    }

    @Test("A message without the header for the time has the time of its property")
    func timestamp() throws {
        var message = Message(body: Array(#"{"outcome":"accepted"}"#.utf8))
        message.properties.messageID = "1"
        message.properties.timestampSeconds = 1_764_090_000
        let text = String(decoding: try WebhookPayload(message).body, as: UTF8.self)
        #expect(text.contains(#""timestamp":"2025-11-25T17:00:00.000Z""#))
    }

    @Test(
        "What is no outcome of Apus is not posted",
        arguments: [
            ("1", "{"), ("1", "[]"), ("1", "{}"), ("1", #"{"outcome":1}"#), ("", #"{"outcome":"accepted"}"#),
            ("a.1", #"{"outcome":"accepted"}"#), ("ä", #"{"outcome":"accepted"}"#),
        ])
    func refused(identifier: String, body: String) {
        var message = Message(body: Array(body.utf8))
        message.properties.messageID = identifier
        #expect(throws: OutcomeReport.Fault.self) { try WebhookPayload(message) }
    }

    @Test("The sample follows the schema of outcomes")
    func sample() throws {
        let payload = try WebhookPayload.sample(
            app: "chat", identifier: "test-1", at: WallTime(milliseconds: 1_764_090_000_000))
        let body = try JSONParser().parse(payload.body)
        #expect(try violations(try #require(body["data"])) == [])
        #expect(body["type"]?.string == "apus.push.accepted")
    }
}
