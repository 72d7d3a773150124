import PushServiceSimulator
import PushTestKit
import SimulatorTestClient
import Testing

@testable import WebPushSimulator

@Suite("Web Push: browsers that are offline", .timeLimit(.minutes(10)))
struct OfflineTests {
    @Test("Messages wait for their browser, a topic keeps its newest, and what has no time is dropped")
    func waits() async throws {
        let script = try SubscriptionScript.lines(#"{"subscription":"mozilla-","online":false}"#)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            #expect(try await fixture.send("mozilla", 0, "first").status == 201)
            #expect(try await fixture.send("mozilla", 0, "old", topic: "t").status == 201)
            #expect(try await fixture.send("mozilla", 0, "new", topic: "t").status == 201)
            #expect(try await fixture.send("mozilla", 0, "other", topic: "u").status == 201)
            #expect(try await fixture.send("mozilla", 1, "another browser", topic: "t").status == 201)
            #expect(try await fixture.send("mozilla", 0, "now or never", ttl: "0").status == 201)
            #expect(try await fixture.send("fcm", 0, "online").status == 201)
            #expect(try await fixture.simulator.summary().waiting == 4)
            fixture.simulator.change(by: try .lines(#"{"subscription":"mozilla-0000000","online":true}"#))
            let records = try await fixture.simulator.recorded()
            func texts(_ kind: RecordedWebPush.Kind) -> [String] {
                records.filter { $0.kind == kind }.map { String(decoding: $0.plaintext ?? [], as: UTF8.self) }
            }
            #expect(texts(.delivery) == ["first", "new", "other"] && texts(.replaced) == ["old"])
            let fates = records.filter { $0.kind == .push && $0.origin == "mozilla" }.map(\.fate)
            #expect(fates == [.stored, .stored, .stored, .stored, .stored, .dropped])
            // The resource of a message has one name in all of its records.
            let delivered = records.filter { $0.kind == .delivery }.map(\.messageID)
            #expect(
                delivered
                    == records.filter { $0.fate == .stored }.map(\.messageID).enumerated()
                    .filter { [0, 2, 3].contains($0.offset) }.map(\.element))
            #expect(try await fixture.send("mozilla", 0, "later").status == 201)
        }
        #expect(summary.accepted == 8 && summary.delivered == 5 && summary.waiting == 1)
        #expect(summary.replaced == 1 && summary.dropped == 1 && summary.expired == 0 && summary.duplicates == 0)
    }

    @Test("A message whose time has passed does not reach its browser, and a service shortens a long time")
    func expires() async throws {
        let script = try SubscriptionScript.lines(#"{"subscription":"","online":false}"#)
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.script = script }) { fixture in
            try await fixture.send("plain", 0, "short", ttl: "10")
            try await fixture.send("plain", 0, "long", ttl: "11")
            fixture.clock.advance(bySeconds: 10)
            fixture.simulator.change(by: try .lines(#"{"subscription":"plain-","online":true}"#))
            let kinds = try await fixture.simulator.recorded().filter { $0.kind != .push }
            #expect(kinds.map(\.kind) == [.expired, .delivery])
            #expect(kinds.map { String(decoding: $0.plaintext ?? [], as: UTF8.self) } == ["short", "long"])
            // FCM keeps a message for four weeks, the others for thirty days.
            for origin in ["fcm", "apple"] { try await fixture.send(origin, 0, "far", ttl: "99999999") }
            fixture.clock.advance(bySeconds: 29 * 86_400)
            fixture.simulator.change(by: try .lines(#"{"subscription":"","online":true}"#))
        }
        #expect(summary.origins["fcm"]?.expired == 1 && summary.origins["apple"]?.delivered == 1)
        #expect(summary.waiting == 0)
    }

    @Test("A store of messages does the same as a naive one", arguments: 0..<20)
    func store(seed: Int) {
        var numbers = SeededGenerator(seed: UInt64(seed))
        var store = MessageStore()
        var naive: [(index: Int, message: StoredMessage)] = []
        var now: Int64 = 0
        for step in 0..<500 {
            now += .random(in: 0...3, using: &numbers)
            let index = Int.random(in: 0..<4, using: &numbers)
            guard Int.random(in: 0..<6, using: &numbers) > 0 else {
                let (delivered, expired) = store.take(index, nowMilliseconds: now)
                let own = naive.filter { $0.index == index }.map(\.message)
                naive.removeAll { $0.index == index }
                #expect(delivered == own.filter { $0.expiresAtMilliseconds > now }, "seed \(seed), step \(step)")
                #expect(expired == own.filter { $0.expiresAtMilliseconds <= now }, "seed \(seed), step \(step)")
                continue
            }
            let topic = [nil, "a", "b"].randomElement(using: &numbers) ?? nil
            let message = StoredMessage(
                id: "\(step)", topic: topic, expiresAtMilliseconds: now + .random(in: 0...20, using: &numbers),
                plaintext: [])
            let admission = store.admit(message, for: index, nowMilliseconds: now)
            guard message.expiresAtMilliseconds > now else {
                #expect(admission == .dropped, "seed \(seed), step \(step)")
                continue
            }
            let older = naive.firstIndex { $0.index == index && topic != nil && $0.message.topic == topic }
            let replaced = older.map { naive.remove(at: $0).message }
            naive.append((index, message))
            #expect(admission == .stored(replaced: replaced), "seed \(seed), step \(step)")
            #expect(store.count == naive.count, "seed \(seed), step \(step)")
        }
    }

    @Test("What was said last of a name's beginning counts")
    func presence() {
        var store = MessageStore()
        #expect(!store.isOffline("fcm-1"))
        store.set("fcm-", isOffline: true)
        store.set("fcm-1", isOffline: false)
        #expect(store.isOffline("fcm-2") && !store.isOffline("fcm-1") && !store.isOffline("wns-1"))
        store.set("", isOffline: true)
        #expect(store.isOffline("fcm-1") && store.isOffline("wns-1"))
    }

    @Test("FCM passes on twenty messages with a topic at once, then one in three minutes; other services pass on all")
    func collapsible() async throws {
        let summary = try await WebPushFixture.run { fixture in
            for origin in ["fcm", "mozilla"] {
                for number in 0..<22 { try await fixture.send(origin, 0, "\(number)", topic: "t") }
            }
            for number in 0..<25 { try await fixture.send("fcm", 1, "\(number)") }
            fixture.clock.advance(bySeconds: 180)
            for number in 22..<24 { try await fixture.send("fcm", 0, "\(number)", topic: "u") }
            let fcm = try await fixture.simulator.recorded().filter { $0.subscription == "fcm-0000000" }
            #expect(fcm.map(\.isDelayed) == (0..<24).map { [20, 21, 23].contains($0) })
        }
        #expect(summary.delayed == 3 && summary.accepted == 71 && summary.delivered == 71)
    }
}
