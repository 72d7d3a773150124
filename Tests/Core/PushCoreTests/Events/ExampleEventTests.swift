import Essentials
import Foundation
import JSON
import Notifications
import Predicates
import PushCore
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
                MessageHeader(name: "cloudEvents_specversion", value: .string("1.0")),
                MessageHeader(name: "cloudEvents_id", value: .string(structured.identifier)),
                MessageHeader(name: "cloudEvents_source", value: .string(structured.source)),
                MessageHeader(name: "cloudEvents_type", value: .string(type)),
            ]
            if let time { binary.headers.append(MessageHeader(name: "cloudEvents_time", value: .string(time))) }
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

/// The examples and schemas that are published for backends, in `deploy/`.
enum ExampleEvents {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func files(in folder: String) throws -> [String] {
        let path = repository.appending(path: folder).path
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }.sorted()
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: repository.appending(path: path)))
    }

    static func example(_ name: String) throws -> [UInt8] { try bytes("deploy/examples/\(name).json") }
}
