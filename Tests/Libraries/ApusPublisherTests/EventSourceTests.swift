import ApusPublisher
import ChangeEvents
import Essentials
import Foundation
import Messages
import Notifications
import Predicates
import Testing

@Suite("ApusPublisher: the events")
struct EventSourceTests {
    private static let source = SampleEvents.source
    private static let dataset = SampleEvents.dataset
    private static let moment = Date(timeIntervalSince1970: 1_769_860_800.25)

    /// Decodes an event as a worker does.
    private static func decode(_ event: Event) throws -> ChangeEvent {
        var message = Message(body: event.json)
        message.properties.contentType = "application/cloudevents+json"
        return try EventDecoder().decode(message)
    }

    @Test("A worker reads the attributes as they were given, with an identifier and a time of their own otherwise")
    func attributes() throws {
        let attributes = EventAttributes(
            id: "e-1", time: Self.moment,
            extensions: ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
        let event = try Self.source.datasetChanged(Self.dataset, syncCount: 8, attributes: attributes)
        #expect(event.id == "e-1" && event.source == Self.source.uri && event.type == "dataset.changed")
        #expect(event.routingKey == "dataset.changed.\(Self.dataset.identityID).notes")
        let decoded = try Self.decode(event)
        #expect(decoded.identifier == "e-1" && decoded.source == Self.source.uri)
        #expect(decoded.time?.milliseconds == 1_769_860_800_250)
        let text = String(decoding: event.json, as: UTF8.self)
        #expect(text.contains(#""type":"com.example.dataset.changed""#))
        #expect(text.contains(#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01""#))

        let others = try (0..<2).map { _ in try Self.source.datasetDeleted(Self.dataset) }
        #expect(others[0].id != others[1].id && UUID(uuidString: others[0].id) != nil)
        #expect(try Self.decode(others[0]).time != nil)
    }

    @Test("A worker reads every change of a dataset as it was given")
    func datasets() throws {
        let key = DatasetKey(
            identityPoolID: Self.dataset.identityPoolID, identityID: Self.dataset.identityID, datasetName: "notes")
        let changed = try Self.source.datasetChanged(Self.dataset, syncCount: .max, deviceID: "d-1")
        #expect(
            try Self.decode(changed).kind
                == .dataset(DatasetChange(operation: .changed, key: key, syncCount: .max, deviceID: "d-1")))
        let deleted = try Self.source.datasetDeleted(Self.dataset, syncCount: 3)
        #expect(
            try Self.decode(deleted).kind
                == .dataset(DatasetChange(operation: .deleted, key: key, syncCount: 3, deviceID: nil)))
        let merged = try Self.source.datasetsMerged(into: Self.dataset, from: ["a", "b"])
        #expect(
            try Self.decode(merged).kind
                == .dataset(DatasetChange(operation: .merged(["a", "b"]), key: key, syncCount: nil, deviceID: nil)))
    }

    @Test("A worker reads every change of a record as it was given, with fields of each kind")
    func records() throws {
        var record = Record(
            type: "Song", name: "song-1",
            fields: [
                "title": "Dear", "price": 12.5, "plays": 7, "isLive": true, "tags": ["live", "jazz"],
                "author": ["name": "Mei Chen"], "note": nil, "released": .timestamp(Self.moment),
                "venue": .location(latitude: 52.52, longitude: 13.405), "album": .reference("album-1"),
            ])
        guard case .record(let change) = try Self.decode(Self.source.recordCreated(record)).kind else {
            Issue.record("no record")
            return
        }
        #expect(change.operation == .created && change.database == .public && change.ownerID == nil)
        #expect(change.recordType == "Song" && change.recordName == "song-1" && change.app == nil)
        #expect(change.fields["author.name"] == .string("Mei Chen") && change.fields["note"] == nil)
        #expect(change.fields["price"] == .double(12.5) && change.fields["isLive"] != nil)
        #expect(change.fields["released"] == .date(milliseconds: 1_769_860_800_250))
        #expect(change.fields["venue"] != nil && change.fields["album"] != nil && change.fields["tags"] != nil)

        record.database = .private(userID: "mei")
        record.zoneName = "Music"
        record.app = "songs"
        guard case .record(let update) = try Self.decode(Self.source.recordUpdated(record, deviceID: "d")).kind,
            case .record(let removal) = try Self.decode(Self.source.recordDeleted(record)).kind
        else {
            Issue.record("no record")
            return
        }
        #expect(update.operation == .updated && update.database == .private && update.ownerID == "mei")
        #expect(update.zoneName == "Music" && update.app == "songs" && update.deviceID == "d")
        #expect(removal.operation == .deleted)
        record.database = .shared(userID: "ann")
        guard case .record(let shared) = try Self.decode(Self.source.recordCreated(record)).kind else {
            Issue.record("no record")
            return
        }
        #expect(shared.database == .shared && shared.ownerID == "ann")
    }

    @Test(
        "A mistake is an error that names the member and the rule",
        arguments: [
            (EventAttributes(id: ""), "event.id"), (EventAttributes(id: "a\nb"), "without control characters"),
            (EventAttributes(time: Date(timeIntervalSince1970: -1)), "a moment of 1970 to 9999"),
            (EventAttributes(extensions: ["Trace": "x"]), "lowercase letters"),
            (EventAttributes(extensions: ["data": "x"]), "CloudEvents' own names"),
        ] as [(EventAttributes, String)])
    func wrongAttributes(attributes: EventAttributes, words: String) throws {
        let error = try #require(throws: PublisherError.self) {
            try Self.source.datasetChanged(Self.dataset, syncCount: 1, attributes: attributes)
        }
        #expect(error.code == .eventInvalid && !error.isTemporary && error.message.contains(words), "\(error)")
    }

    @Test("An event that a worker would make a dead letter of cannot be made")
    func wrongEvents() throws {
        func refusal(_ make: () throws -> Event) throws -> String {
            let error = try #require(throws: PublisherError.self) { try make() }
            #expect(error.code == .eventInvalid)
            return error.message
        }
        var dataset = Self.dataset
        dataset.name = "my notes"
        #expect(try refusal { try Self.source.datasetDeleted(dataset) }.contains("data.datasetName"))
        #expect(try refusal { try Self.source.datasetChanged(Self.dataset, syncCount: -1) }.contains("data.syncCount"))
        #expect(
            try refusal { try Self.source.datasetsMerged(into: Self.dataset, from: []) }
                .contains("data.mergedDatasetNames"))
        let record = Record(type: "Song", name: "s", fields: ["price": .double(.infinity)])
        #expect(try refusal { try Self.source.recordCreated(record) }.contains("fields.price is inf"))
        #expect(
            try refusal { try Self.source.recordCreated(Record(type: "", name: "s")) }.contains("data.recordType"))
        #expect(try refusal { try EventSource("").datasetDeleted(Self.dataset) }.contains("event.source"))
        let empty = Push(app: "chat", to: .users(["ann"]), Push.Notification())
        #expect(try refusal { try Self.source.pushRequested(empty) }.contains("an alert push needs"))
        let long = Push(app: "chat", to: .topic("news"), .init(body: String(repeating: "a", count: 5_000)))
        #expect(try refusal { try Self.source.pushRequested(long) }.contains("4096"))
        let never = EventAttributes(time: Date(timeIntervalSince1970: .nan))
        #expect(try refusal { try Self.source.datasetDeleted(Self.dataset, attributes: never) }.contains("time is nan"))
        let song = Record(type: "Song", name: "s", fields: ["at": .timestamp(Date(timeIntervalSince1970: .infinity))])
        #expect(try refusal { try Self.source.recordCreated(song) }.contains("fields.at is nan"))
        #expect(try refusal { try Event(json: Array("{}".utf8)) }.contains("event.specversion"))
    }

    @Test("An event that was stored is the same when it is read again")
    func storedEvents() throws {
        let event = try SampleEvents.changed(1)
        #expect(try Event(json: event.json) == event)
    }
}
