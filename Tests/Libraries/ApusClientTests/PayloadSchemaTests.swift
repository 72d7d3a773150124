import ApusClient
import Foundation
import JSON
import Notifications
import PushTestKit
import Testing

@Suite("Published payloads and their schemas")
struct PayloadSchemaTests {
    /// A document, and the push service whose renderer it is about.
    private static let documents = [("apns", PushService.apns), ("android", .fcm), ("webpush", .webPush)]
    private static let events = [
        "dataset.changed", "dataset.deleted", "datasets.merged", "record.created", "record.updated", "record.deleted",
        "push.requested", "push.requested-background",
    ]

    private static func file(_ path: String) throws -> Data {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return try Data(contentsOf: root.appending(path: "deploy/\(path)"))
    }

    private static func examples(_ document: String) throws -> [String: PayloadValue] {
        let json = try file("examples/payloads/\(document).json")
        return try JSONDecoder().decode([String: PayloadValue].self, from: json)
    }

    private static func schema(_ document: String) throws -> JSONSchema {
        JSONSchema(document: try JSONParser().parse(Array(try file("schemas/payloads/\(document).json"))))
    }

    private static func violations(_ payload: some Encodable, _ schema: JSONSchema) throws -> [String] {
        schema.violations(try JSONParser().parse(Array(try JSONEncoder().encode(payload))), schema.document)
    }

    @Test("Each example is what the worker makes of the published event, and as the schema says", arguments: documents)
    func examplesAreRendered(document: String, service: PushService) throws {
        let examples = try Self.examples(document)
        let schema = try Self.schema(document)
        #expect(Set(examples.keys) == Set(Self.events))
        for event in Self.events {
            let rendered = try RenderedPush.event(Array(try Self.file("examples/\(event).json")), to: service)
            let payload = try JSONDecoder().decode(PayloadValue.self, from: rendered)
            #expect(payload == examples[event], "\(document), \(event): \(String(decoding: rendered, as: UTF8.self))")
            #expect(try Self.violations(payload, schema).isEmpty, "\(document), \(event)")
        }
    }

    @Test("The examples for apps are decoded as their names say, without a problem", arguments: ["apns", "android"])
    func examplesAreDecoded(document: String) throws {
        for (name, example) in try Self.examples(document) {
            let payload = try PushPayload(json: JSONEncoder().encode(example))
            let isRight =
                switch (name, payload.event) {
                case ("dataset.changed", .datasetChanged(let push)): push.syncCount == 42
                case ("dataset.deleted", .datasetDeleted(let push)): push.dataset.name == "drafts"
                case ("datasets.merged", .datasetsMerged(_, let names)): names.count == 2
                case ("record.created", .recordCreated(let push)): push.fields["title"] == .text("Dear")
                case ("record.updated", .recordUpdated(let push)): push.subscription.databaseScope == .private
                case ("record.deleted", .recordDeleted(let push)): push.recordName == "song-1729"
                case ("push.requested", .message(_, let data)): data["orderId"] == .integer(18_231)
                // The notification, which FCM shows by itself, is not part of the data.
                case ("push.requested", .data(let data)): document == "android" && data["orderId"] == .text("18231")
                case ("push.requested-background", .data(let data)): data["revision"] == .text("2026-01-31")
                default: false
                }
            #expect(isRight && payload.problems.isEmpty, "\(name): \(payload)")
        }
    }

    @Test("Whatever the schema accepts is decoded without a problem", arguments: ["apns", "android"])
    func schemaAndDecoderAgree(document: String) throws {
        let schema = try Self.schema(document)
        let examples = try Self.examples(document)
        let seed = UInt64.random(in: 0...UInt64.max)
        var mutation = Mutation(generator: SeededGenerator(seed: seed))
        var (valid, invalid) = (0, 0)
        for _ in 0..<2_000 {
            let example = examples[Self.events.randomElement(using: &mutation.generator) ?? ""] ?? .null
            let mutated = mutation.mutated(example)
            let violations = try Self.violations(mutated, schema)
            if violations.isEmpty { valid += 1 } else { invalid += 1 }
            do throws(PayloadError) {
                let payload = try PushPayload(json: Self.json(mutated))
                let isFine = payload.problems.isEmpty || !violations.isEmpty
                #expect(isFine, "seed \(seed): \(mutated): \(payload.problems)")
            } catch {
                #expect(!violations.isEmpty, "seed \(seed): \(mutated): \(error)")
            }
        }
        #expect(valid > 100 && invalid > 100, "seed \(seed): \(valid) valid, \(invalid) not")
    }

    private static func json(_ value: PayloadValue) -> Data { (try? JSONEncoder().encode(value)) ?? Data() }
}

/// Changes one place of a payload: removes a member, or puts another value there.
private struct Mutation {
    var generator: SeededGenerator

    mutating func mutated(_ value: PayloadValue) -> PayloadValue {
        guard case .object(var members) = value, let name = members.keys.sorted().randomElement(using: &generator)
        else {
            return replacement()
        }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: members[name] = nil
        case 1: members[name] = replacement()
        case 2: members["unknown"] = .text("x")
        case 3: members["apusReceipt"] = replacement()
        default: members[name] = members[name].map { mutated($0) }
        }
        return .object(members)
    }

    private mutating func replacement() -> PayloadValue {
        let values: [PayloadValue] = [
            .boolean(true), .integer(0), .integer(1), .integer(-1), .integer(4), .number(1.5), .text(""), .text("x"),
            .text("a,b"), .text("us-east-1:be6f"), .text("7"), .text("deleted"), .text("cognito-sync"), .array([]),
            .object([:]),
        ]
        return values.randomElement(using: &generator) ?? .null
    }
}
