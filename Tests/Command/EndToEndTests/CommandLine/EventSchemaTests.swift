import ApusPublisher
import ChangeEvents
import Foundation
import Messages
import Notifications
import PushTestKit
import Testing

@Suite("The schemas of events and the worker")
struct EventSchemaTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// An event, the type whose schema it is held against, and how it came about.
    private struct Case {
        let type: String
        let event: NSDictionary
        let change: String

        /// Why a worker would make a dead letter of it; nil if it acts on it.
        func rejection() throws -> EventRejection? {
            var message = Message(body: Array(try JSONSerialization.data(withJSONObject: event)))
            message.properties.contentType = "application/cloudevents+json"
            do throws(EventRejection) { _ = try EventDecoder().decode(message) } catch { return error }
            return nil
        }

        var line: String {
            get throws {
                let line = try JSONSerialization.data(withJSONObject: ["schema": type, "event": event])
                return String(decoding: line, as: UTF8.self) + "\n"
            }
        }
    }

    private static func examples() throws -> [Case] {
        let folder = root.appending(path: "deploy/examples")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try files.sorted().map { file in
            let event = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(path: file)))
            let labels = file.prefix { $0 != "-" }.split(separator: ".").prefix(2)
            return Case(
                type: labels.joined(separator: "."), event: try #require(event as? NSDictionary), change: file)
        }
    }

    /// Returns the validator's verdict on each case; empty for a valid one.
    private static func verdicts(_ cases: [Case]) async throws -> [String] {
        let script = root.appending(path: "Tests/Command/EndToEndTests/Scripts/validate_events.py").path
        let result = try await CommandRunner.run(
            "/usr/bin/python3", [script, root.appending(path: "deploy/schemas").path],
            input: try cases.map { try $0.line }.joined(), in: try TemporaryFolder())
        try #require(result.exitCode == 0, "\(result)")
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        try #require(lines.count == cases.count)
        return lines
    }

    @Test("Every example, and every event that ApusPublisher makes, follows its schema")
    func validEvents() async throws {
        let source = EventSource("https://notes.example.com/backend", typePrefix: "com.example")
        let dataset = Dataset(identityPoolID: "us-east-1:1a", identityID: "us-east-1:2b", name: "notes")
        let record = Record(
            type: "Song", name: "s", fields: ["price": 12.5, "at": .timestamp(Date())],
            database: .private(userID: "mei"), zoneName: "Music", app: "songs")
        var push = Push(app: "chat", to: .users(["ann"]), .init(title: "Mei", body: "Hello", data: ["room": 7]))
        push.notification.sound = .critical(volume: 0.5)
        push.expiration = Date()
        push.android = Push.Variant(.init(body: "Hi"), priority: .immediate, collapseID: "room")
        let made = [
            try source.datasetChanged(dataset, syncCount: 1, deviceID: "d"), try source.datasetDeleted(dataset),
            try source.datasetsMerged(into: dataset, from: ["a"]), try source.recordCreated(record),
            try source.recordUpdated(record), try source.recordDeleted(record), try source.pushRequested(push),
        ]
        #expect(Set(made.map(\.type)) == Set(EventType.allCases.map(\.rawValue)))
        let cases =
            try Self.examples()
            + made.map { event in
                let json = try JSONSerialization.jsonObject(with: Data(event.json))
                return Case(type: event.type, event: try #require(json as? NSDictionary), change: "of the library")
            }
        for (event, verdict) in zip(cases, try await Self.verdicts(cases)) {
            let rejection = try event.rejection()
            #expect(verdict.isEmpty && rejection == nil, "\(event.type) \(event.change): \(verdict)")
        }
    }

    @Test("Where a member is left out, unknown or of another kind, schema and worker agree")
    func changedEvents() async throws {
        let cases = try Self.examples().flatMap { example in
            try Self.changes(of: example.event, at: "").map { event, change in
                Case(type: example.type, event: event, change: "\(example.change) with \(change)")
            }
        }
        #expect(cases.count > 200)
        for (event, verdict) in zip(cases, try await Self.verdicts(cases)) {
            let rejection = try event.rejection()
            #expect(
                verdict.isEmpty == (rejection == nil),
                "\(event.change): the schema says '\(verdict)', the worker '\(rejection?.message ?? "")'")
        }
    }

    /// The objects whose members are Apus' own.
    private static let ownObjects: Set<String> = [
        "", ".data", ".data.notification", ".data.options", ".data.apns", ".data.android", ".data.webpush",
        ".data.apns.notification", ".data.android.notification", ".data.android.options", ".data.webpush.notification",
    ]

    /// Every event with one change in an object of Apus' own: a member less, one more, one of another kind.
    private static func changes(
        of object: NSDictionary, at path: String
    ) throws -> [(event: NSDictionary, change: String)] {
        guard ownObjects.contains(path) else { return [] }
        var changed: [(event: NSDictionary, change: String)] = []
        func add(_ value: Any?, for key: String, _ change: String) {
            guard let copy = object.mutableCopy() as? NSMutableDictionary else { return }
            copy[key] = value
            changed.append((copy, change))
        }
        // Attributes beside `data` are extensions.
        if !path.isEmpty { add("x", for: "surplus", "\(path).surplus") }
        for key in object.allKeys.compactMap({ $0 as? String }).sorted() {
            add(nil, for: key, "no \(path).\(key)")
            // Worker and schema do not look at CloudEvents' own description of `data`.
            if key != "datacontenttype" { add([[:] as [String: Any]], for: key, "an array as \(path).\(key)") }
            guard let inner = object[key] as? NSDictionary else { continue }
            for (event, change) in try changes(of: inner, at: "\(path).\(key)") { add(event, for: key, change) }
        }
        return changed
    }
}
