import ChangeEvents
import Messages
import Notifications
import Testing

@Suite("Debezium's outbox router")
struct OutboxRouterTests {
    private static let identifier = "406c07f3-26f0-4eea-a50c-109940064b8f"
    private static let push = #"{"app":"chat","userIds":["mei"],"notification":{"title":"On its way"}}"#
    private let messages = TableMessages()

    private static func text(_ json: String) -> String {
        "\"" + json.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func headers(_ type: String, name: String = "type") -> [MessageHeader] {
        [MessageHeader("id", .string(identifier)), MessageHeader(name, .string(type))]
    }

    @Test(
        "The payload is the data of the event that the header names, whichever way the converters write it",
        arguments: [
            push, text(push), #"{"schema":{"type":"string"},"payload":\#(text(push))}"#,
            #"{"schema":{"type":"struct"},"payload":\#(push)}"#,
        ])
    func payloads(body: String) throws {
        let event = try messages.event(body, headers: Self.headers("com.example.push.requested"))
        guard case .push(let push) = event.kind else { return #expect(Bool(false), "\(event)") }
        #expect(push.app == "chat" && push.audience == .users(["mei"], app: "chat"))
        #expect(event.identifier == Self.identifier && event.source == "/debezium/outbox")
    }

    @Test("Headers may be JSON, with or without a schema, as Debezium Server writes them")
    func jsonHeaders() throws {
        let quoted = [
            MessageHeader("id", .string("\"\(Self.identifier)\"")),
            MessageHeader("eventType", .string(#"{"schema":{"type":"string"},"payload":"record.created"}"#)),
        ]
        let event = try messages.event(#"{"recordType":"Song","recordName":"1"}"#, headers: quoted)
        #expect(event.identifier == Self.identifier && event.type == .recordCreated)
    }

    @Test("A message without the header for the type says how the router is to be told; a wrong one is a wrong event")
    func faults() {
        let identifier = [MessageHeader("id", .string(Self.identifier))]
        let missing = messages.rejection(Self.push, headers: identifier)
        #expect(missing?.message.contains("table.fields.additional.placement = type:header:type") == true)
        #expect(messages.rejection(Self.push, headers: Self.headers("OrderCreated"))?.reason == .unknownType)
        let wrong = [
            #"{"schema":null,"payload":null}"#, "7", Self.text("{"), Self.text(#"{"app":1}"#), #"{"topics":1}"#,
            Self.push.replacing("mei", with: ""),
        ]
        let headers = Self.headers("push.requested")
        for body in wrong { #expect(messages.rejection(body, headers: headers) != nil, "\(body)") }
        let large = #"{"app":"chat","topic":"a","notification":{"title":"a","data":{"n":1e999}}}"#
        #expect(messages.rejection(large, headers: Self.headers("push.requested"))?.reason == .invalidJSON)
    }
}
