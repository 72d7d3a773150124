import ChangeEvents
import RegistryCore

/// The requirements for every implementation of `EventMemoryRegistry`.
enum EventMemoryConformance {
    private static let now: Int64 = 1_800_000_000_000
    private static let hour: Int64 = 3_600_000

    /// All checks.
    static let all = [
        RegistryConformance("Events are remembered in blocks, whose numbers grow") { registry in
            try RegistryConformance.expect(try registry.hasEventMemory(), is: true, "the memory")
            let many = (0..<450).map { event("\($0)", content: $0 - 225) }
            let extreme = [Int64(Int32.min), -1, 0, Int64(Int32.max)].map { event("extreme \($0)", content: $0) }
            try registry.remember([], endedAtMilliseconds: now)
            try registry.remember(many, endedAtMilliseconds: now)
            // A clock that goes back changes nothing.
            try registry.remember(extreme, endedAtMilliseconds: now - hour)
            let blocks = try registry.eventMemoryBlocks(after: 0, limit: 9)
            try RegistryConformance.expect(blocks.map(\.count), is: [200, 200, 50, 4], "the sizes")
            try RegistryConformance.expect(blocks.flatMap(\.events), is: many + extreme, "the events")
            try RegistryConformance.expect(
                blocks.map(\.endedAtMilliseconds), is: [now, now, now, now - hour], "the ends")
            let numbers = blocks.map(\.number)
            try RegistryConformance.expect(Set(numbers).sorted(), is: numbers, "the numbers")
            try RegistryConformance.expect(
                try registry.eventMemoryBlocks(after: 0, limit: 2), is: Array(blocks[..<2]), "a part")
            try RegistryConformance.expect(
                try registry.eventMemoryBlocks(after: numbers[1], limit: 9), is: Array(blocks[2...]), "the rest")
            try RegistryConformance.expect(
                try registry.eventMemoryBlocks(numbered: [numbers[3], numbers[0] - 1, numbers[1]]),
                is: [blocks[1], blocks[3]], "some")
            try RegistryConformance.expect(try registry.eventMemoryBlocks(numbered: []), is: [], "none")
        },
        RegistryConformance("Old blocks are forgotten, some at once, and the newest stays") { registry in
            for number in 0..<5 {
                try registry.remember(
                    (0...number).map { event("\(number) \($0)", content: 0) },
                    endedAtMilliseconds: now + Int64(number) * hour)
            }
            let blocks = try registry.eventMemoryBlocks(after: 0, limit: 9)
            try forget(registry, before: now + 2 * hour, limit: 1, is: (1, 0), blocks[1...])
            try forget(registry, before: now + 2 * hour, limit: 9, is: (1, 0), blocks[2...])
            try forget(registry, before: now + 2 * hour, limit: 9, is: (0, 0), blocks[2...])
            try forget(registry, before: now + 9 * hour, limit: 9, is: (2, 0), blocks[4...])
        },
        RegistryConformance("The oldest blocks go first when there are too many events") { registry in
            for number in 0..<5 {
                try registry.remember(
                    (0..<10).map { event("\(number) \($0)", content: 0) }, endedAtMilliseconds: now)
            }
            let blocks = try registry.eventMemoryBlocks(after: 0, limit: 9)
            try forget(registry, before: now, maximum: 31, limit: 9, is: (1, 10), blocks[1...])
            try forget(registry, before: now, maximum: 30, limit: 9, is: (1, 10), blocks[2...])
            try forget(registry, before: now, maximum: 1, limit: 9, is: (2, 20), blocks[4...])
            // The numbers go on where they were.
            try registry.remember([event("last", content: 0)], endedAtMilliseconds: now)
            let last = try registry.eventMemoryBlocks(after: blocks[4].number, limit: 9)
            try RegistryConformance.expect(last.flatMap(\.events), is: [event("last", content: 0)], "the next block")
        },
        RegistryConformance("An event is known by its source, its identifier and its owner, for its time") { registry in
            let follower = TestEventMemory(rememberMilliseconds: hour, eventsMaximum: 1_000)
            let others = [
                EventIdentity(source: "shop", identifier: "2", owner: "chat"),
                EventIdentity(source: "shop2", identifier: "1", owner: "chat"),
                EventIdentity(source: "shop", identifier: "1", owner: "mail"),
            ]
            let first = event("1", content: 1)
            func known(_ now: Int64) throws -> [RememberedEvent] {
                try follower.rememberedEvents(among: others + [first.identity], in: registry, atMilliseconds: now)
            }
            func content(_ identifier: String, _ now: Int64) throws -> Int64? {
                let key = EventIdentity.key(source: "shop", identifier: identifier)
                return try follower.content(ofKey: key, in: registry, atMilliseconds: now)
            }
            try RegistryConformance.expect(try known(now), is: [], "nothing yet")
            try registry.remember([first], endedAtMilliseconds: now)
            try RegistryConformance.expect(try known(now + hour), is: [first], "the event")
            try RegistryConformance.expect(try content("1", now + hour), is: 1, "its content")
            try RegistryConformance.expect(try content("2", now), is: nil, "the content of another one")
            try RegistryConformance.expect(try known(now + hour + 1), is: [], "an event that is too old")
            try RegistryConformance.expect(try content("1", now + hour + 1), is: nil, "its content")
            let again = event("1", content: 2)
            try registry.remember([again], endedAtMilliseconds: now + hour)
            try RegistryConformance.expect(try known(now + 2 * hour), is: [again], "the event that ended again")
            try RegistryConformance.expect(try content("1", now + hour), is: 2, "its content")
        },
    ]

    private static func forget(
        _ registry: any RegistryConformance.Store, before milliseconds: Int64, maximum: Int = .max, limit: Int,
        is expected: (blocks: Int, surplusEvents: Int), _ rest: ArraySlice<EventMemoryBlock>
    ) throws {
        let counts = try registry.forgetEvents(
            endedBeforeMilliseconds: milliseconds, eventsMaximum: maximum, limit: limit)
        try RegistryConformance.expect(
            [counts.blocks, counts.surplusEvents], is: [expected.blocks, expected.surplusEvents], "the counts")
        try RegistryConformance.expect(
            try registry.eventMemoryBlocks(after: 0, limit: 9), is: Array(rest), "the rest")
    }

    private static func event(_ identifier: String, content: Int64) -> RememberedEvent {
        RememberedEvent(
            identity: EventIdentity(source: "shop", identifier: identifier, owner: "chat"), content: content)
    }
}
