import ChangeEvents
import Essentials
import Foundation
import JSON
import Messages
import Notifications
import Predicates
import PushTestKit
import Testing

@Suite("Published examples and schemas")
struct ExampleEventTests {
    private let decoding = EventDecoding()

    @Test("Every example is an event, read the same as a whole and in the two other encodings")
    func examplesDecode() throws {
        let parser = JSONParser()
        for name in try ExampleEvents.files(in: "deploy/examples") {
            let bytes = try ExampleEvents.bytes("deploy/examples/\(name)")
            var structured = try decoding.event(bytes)
            let root = try parser.parse(bytes)
            let type = try #require(root["type"]?.string)
            let data = try #require(root["data"]?.minified)
            let time = root["time"]?.string

            var binary = decoding.message(data, contentType: "application/json")
            binary.headers = [
                MessageHeader("cloudEvents_specversion", .string("1.0")),
                MessageHeader("cloudEvents_id", .string(structured.identifier)),
                MessageHeader("cloudEvents_source", .string(structured.source)),
                MessageHeader("cloudEvents_type", .string(type)),
            ]
            if let time { binary.headers.append(MessageHeader("cloudEvents_time", .string(time))) }
            #expect(try decoding.decoder.decode(binary) == structured, "\(name)")

            var plain = decoding.message(data, contentType: nil)
            plain.properties.messageID = structured.identifier
            plain.properties.appID = structured.source
            plain.properties.type = type
            structured.time = nil
            #expect(try decoding.decoder.decode(plain) == structured, "\(name)")
        }
    }

    @Test("There is an example and a schema for each type that is acted on")
    func everyTypeIsDocumented() throws {
        let parser = JSONParser()
        let examples = try ExampleEvents.files(in: "deploy/examples")
        for type in EventType.allCases.map(\.rawValue) {
            #expect(examples.contains("\(type).json"))
            let schema = try parser.parse(try ExampleEvents.bytes("deploy/schemas/\(type).json"))
            #expect(schema["$schema"]?.string == "https://json-schema.org/draft/2020-12/schema")
            #expect(schema["properties"]?["data"] != nil)
        }
    }

    @Test("The examples say what they seem to say")
    func examplesMeanWhatTheySay() throws {
        let changed = try decoding.event(try ExampleEvents.example("dataset.changed"))
        #expect(changed.time?.milliseconds == 1_769_860_800_250)
        let push = try #require(try decoding.push(try ExampleEvents.example("push.requested")))
        #expect(push.audience == .users(["user-1729"], app: "chat"))
        #expect(push.options.expirationSeconds == 1_769_882_400)
        #expect(push.notification.customData.map(\.key) == ["orderId", "links"])
        let activity = try #require(try decoding.push(try ExampleEvents.example("push.requested-live-activity")))
        #expect(activity.notification.liveActivityEvent == .update)
        let background = try #require(try decoding.push(try ExampleEvents.example("push.requested-background")))
        #expect(background.notification.isContentAvailable)
        guard case .record(let record) = try decoding.event(try ExampleEvents.example("record.updated")).kind else {
            Issue.record("the example is no change of a record")
            return
        }
        #expect(record.operation == .updated && record.database == .private && record.ownerID == "user-1729")
        #expect(record.fields["author.name"] == .string("Mei Chen") && record.fields["price"] == .double(12.5))
        #expect(record.fields["released"] == .date(milliseconds: 1_769_860_800_000))
    }
}
