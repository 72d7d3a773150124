import ChangeEvents
import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("The AsyncAPI document")
struct AsyncAPITests {
    /// The name of the message of a type: `DatasetChanged` for `dataset.changed`.
    private static func messageName(_ type: String) -> String {
        type.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func object(in file: String) throws -> NSDictionary {
        let data = Data(try ExampleEvents.bytes(file))
        return try #require(try JSONSerialization.jsonObject(with: data) as? NSDictionary, "\(file)")
    }

    private let document: NSDictionary

    init() throws { document = try Self.object(in: "deploy/asyncapi.json") }

    /// Returns the value at the end of a path of names.
    private func at<Value>(_ path: String..., as _: Value.Type = String.self) throws -> Value {
        let found = path.reduce(document as Any?) { ($0 as? NSDictionary)?[$1] }
        return try #require(found as? Value, "\(path.joined(separator: "/"))")
    }

    @Test("It has a message for each type that is acted on, with its schema, and Apus receives all of them")
    func everyTypeIsAMessage() throws {
        #expect(try at("asyncapi") == "3.0.0")
        let types = EventType.allCases.map(\.rawValue)
        // And one that Apus sends.
        #expect(try at("components", "messages", as: NSDictionary.self).count == types.count + 1)
        for type in types {
            let name = Self.messageName(type)
            #expect(try at("components", "messages", name, "payload", "schema", "$ref") == "schemas/\(type).json")
            #expect(try at("components", "messages", name, "contentType") == "application/cloudevents+json")
            #expect(try at("channels", "changes", "messages", name, "$ref") == "#/components/messages/\(name)")
        }
        let received = try at("operations", "receiveChanges", "messages", as: [[String: String]].self)
        let expected = types.map { "#/channels/changes/messages/\(Self.messageName($0))" }
        #expect(received.compactMap { $0["$ref"] }.sorted() == expected.sorted())
        #expect(try at("channels", "changes", "bindings", "amqp", "exchange", "name") == "apus.changes")
    }

    @Test("It shows every example as it is; what was changed there has to be copied here")
    func showsTheExamples() throws {
        var shown: [String] = []
        for type in EventType.allCases.map(\.rawValue) {
            let name = Self.messageName(type)
            for example in try at("components", "messages", name, "examples", as: [NSDictionary].self) {
                let file = try #require(example["name"] as? String)
                #expect(file.hasPrefix(type))
                let payload = try #require(example["payload"] as? NSDictionary)
                #expect(try payload == Self.object(in: "deploy/examples/\(file).json"), "\(file)")
                shown.append("\(file).json")
            }
        }
        #expect(try shown.sorted() == ExampleEvents.files(in: "deploy/examples"))
    }

    @Test("It has the outcomes that Apus sends, by their routing keys, with schema, headers and example")
    func outcomes() throws {
        let kinds = try at("channels", "outcomes", "parameters", "outcome", "enum", as: [String].self)
        #expect(kinds == OutcomeKind.allCases.map(\.rawValue))
        #expect(try at("channels", "outcomes", "bindings", "amqp", "exchange", "name") == "apus.outcomes")
        let schema = try at("components", "messages", "Outcome", "payload", "schema", "$ref")
        #expect(schema == "schemas/outcomes/outcome.json")
        let examples = try at("components", "messages", "Outcome", "examples", as: [NSDictionary].self)
        for example in examples {
            let name = try #require(example["name"] as? String)
            let payload = try #require(example["payload"] as? NSDictionary)
            #expect(try payload == Self.object(in: "deploy/examples/outcomes/\(name).json"))
        }
        #expect(examples.count == 1)
    }
}
