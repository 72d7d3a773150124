import ChangeEvents
import RegistryCore

extension SchemaConformance {
    static let eventMemoryChecks = [
        SchemaConformance("Before its migration the registry says that it has no memory of events") { store in
            try store.makeFirstRegistry()
            let registry = try store.open(.readWrite, store.released)
            let event = RememberedEvent(
                identity: EventIdentity(source: "shop", identifier: "1", owner: "chat"), content: 1)
            func expectNothing() throws {
                try RegistryConformance.expect(try registry.hasEventMemory(), is: false, "the memory")
                try store.expectRefusal(.olderSchema, mentioning: "apus registry migrate") {
                    _ = try registry.forgetEvents(
                        in: EventMemorySlice(0), endedBeforeMilliseconds: 0, eventsMaximum: 1)
                }
            }
            try expectNothing()
            try store.migrate(up: nil, store.released)
            // The same connection, without a restart.
            try registry.remember([event], endedAtMilliseconds: EventMemoryRules.epochMilliseconds)
            try RegistryConformance.expect(try registry.hasEventMemory(), is: true, "the memory")
            try store.migrate(down: EventMemoryRules.schemaVersion - 1, store.released)
            try expectNothing()
            try store.migrate(up: nil, store.released)
            try RegistryConformance.expect(
                try registry.rememberedEvents(among: [event.identity], endedSinceMilliseconds: 0), is: [],
                "the events after the way back")
        }
    ]
}
