import ChangeEvents
import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("The routing keys of events")
struct RoutingKeyTests {
    private let decoding = EventDecoding()

    @Test("The key has the type and what the event is about")
    func saysTypeAndSubject() throws {
        func key(_ example: String) throws -> String {
            try decoding.event(try ExampleEvents.example(example)).routingKey
        }
        let changed = try key("dataset.changed")
        #expect(changed.hasPrefix("dataset.changed.") && changed.hasSuffix(".settings"), "\(changed)")
        #expect(try key("datasets.merged").hasPrefix("datasets.merged."))
        #expect(try key("record.updated") == "record.updated.song-1729")
        let push = try decoding.event(try ExampleEvents.example("push.requested"))
        #expect(push.routingKey == "push.requested.\(push.identifier)")
    }

    @Test("The type of every example is the one that its name says")
    func knowsTypes() throws {
        for file in try ExampleEvents.files(in: "deploy/examples") {
            let event = try decoding.event(try ExampleEvents.bytes("deploy/examples/\(file)"))
            #expect(file.hasPrefix(event.type.rawValue), "\(file)")
        }
    }

    @Test("A key has 255 bytes at most, and no part of a character")
    func isBounded() throws {
        var event = try decoding.event(try ExampleEvents.example("push.requested"))
        event.identifier = String(repeating: "é", count: 127)
        #expect(event.routingKey.utf8.count == 255 && event.routingKey.hasSuffix("é"))
    }
}
