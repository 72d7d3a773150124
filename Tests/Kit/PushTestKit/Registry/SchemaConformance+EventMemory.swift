import ChangeEvents
import RegistryCore

extension SchemaConformance {
    static let eventMemoryChecks = [
        SchemaConformance("Before its migration the registry has no memory of events, and none after the way back") {
            store in
            try store.makeFirstRegistry()
            let registry = try store.open(.readWrite, store.released)
            let now: Int64 = 1_800_000_000_000
            let follower = TestEventMemory(rememberMilliseconds: 1_000, eventsMaximum: 1_000)
            let event = RememberedEvent(
                identity: EventIdentity(source: "shop", identifier: "1", owner: "chat"), content: 1)
            func expectKnown(_ events: [RememberedEvent], _ when: String) throws {
                let known = try follower.rememberedEvents(
                    among: [event.identity], in: registry, atMilliseconds: now)
                try RegistryConformance.expect(known, is: events, "the events \(when)")
            }
            func expectNothing(_ when: String) throws {
                try RegistryConformance.expect(try registry.hasEventMemory(), is: false, "the memory \(when)")
                try store.expectRefusal(.olderSchema, mentioning: "apus registry migrate") {
                    _ = try registry.forgetEvents(endedBeforeMilliseconds: 0, eventsMaximum: 1, limit: 1)
                }
                try expectKnown([], when)
            }
            try expectNothing("before the migration")
            try store.migrate(up: nil, store.released)
            // The same connection, without a restart.
            try registry.remember([event], endedAtMilliseconds: now)
            try expectKnown([event], "after the migration")
            try store.migrate(down: EventMemoryRules.schemaVersion - 1, store.released)
            // The first look-up finds out.
            _ = try? follower.step(registry, atMilliseconds: now)
            try expectNothing("after the way back")
            try store.migrate(up: nil, store.released)
            try expectKnown([], "after the second migration")
            try registry.remember([event], endedAtMilliseconds: now + 1)
            try expectKnown([event], "that were remembered anew")
        }
    ]
}
