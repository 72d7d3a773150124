import ChangeEvents
import RegistryCore

/// The requirements for every implementation of `EventMemoryRegistry`.
enum EventMemoryConformance {
    private static let now: Int64 = 1_800_000_000_000
    private static let hour: Int64 = 3_600_000

    /// All checks.
    static let all = [
        RegistryConformance("An event is remembered by its source, its identifier and its owner") { registry in
            try RegistryConformance.expect(try registry.hasEventMemory(), is: true, "the memory")
            let events = (0..<300).map { event("\($0)", content: Int64($0) - 150) }
            try registry.remember(events, endedAtMilliseconds: now)
            try RegistryConformance.expect(
                Set(try known(events.map(\.identity), registry)), is: Set(events), "all of them")
            let others = [
                EventIdentity(source: "shop", identifier: "300", owner: "chat"),
                EventIdentity(source: "shop2", identifier: "1", owner: "chat"),
                EventIdentity(source: "shop", identifier: "1", owner: "mail"),
            ]
            try RegistryConformance.expect(
                try known(others + [events[7].identity], registry), is: [events[7]], "one among others")
            try RegistryConformance.expect(try known([], registry), is: [], "none")
            try registry.remember([], endedAtMilliseconds: now)
        },
        RegistryConformance("The content of a key is known without its owner") { registry in
            let extreme = [Int64(Int32.min), -1, 0, Int64(Int32.max)]
            for (index, content) in extreme.enumerated() {
                try registry.remember([event("\(index)", content: content)], endedAtMilliseconds: now)
                let found = try registry.rememberedContent(
                    ofKey: EventIdentity.key(source: "shop", identifier: "\(index)"), endedSinceMilliseconds: now)
                try RegistryConformance.expect(found, is: content, "the content")
            }
            let unknown = EventIdentity.key(source: "shop", identifier: "unknown")
            try RegistryConformance.expect(
                try registry.rememberedContent(ofKey: unknown, endedSinceMilliseconds: now), is: nil, "no content")
        },
        RegistryConformance("An event is remembered for its time, which begins anew with a new end") { registry in
            let first = event("1", content: 1)
            try registry.remember([first], endedAtMilliseconds: now)
            try RegistryConformance.expect(
                try known([first.identity], registry, since: now + 1_000), is: [], "an event that is too old")
            let key = first.identity.key
            try RegistryConformance.expect(
                try registry.rememberedContent(ofKey: key, endedSinceMilliseconds: now + 1_000), is: nil, "its content")
            let again = event("1", content: 2)
            try registry.remember([again], endedAtMilliseconds: now + hour)
            try RegistryConformance.expect(
                try known([first.identity], registry, since: now + hour), is: [again], "the event that ended again")
        },
        RegistryConformance("Old events of a part are forgotten, and those of other parts stay") { registry in
            let inside = ofSlice(7, count: 3)
            let outside = [event(7, first: -1), event(8, first: 0)]
            try registry.remember(Array(inside[..<2]) + outside, endedAtMilliseconds: now)
            try registry.remember([inside[2]], endedAtMilliseconds: now + hour)
            let counts = try registry.forgetEvents(
                in: EventMemorySlice(7), endedBeforeMilliseconds: now + hour, eventsMaximum: .max)
            try RegistryConformance.expect([counts.expired, counts.surplus], is: [2, 0], "the counts")
            try RegistryConformance.expect(
                Set(try known((inside + outside).map(\.identity), registry)), is: Set([inside[2]] + outside),
                "the rest")
        },
        RegistryConformance("The oldest events of a part go first when there are too many") { registry in
            let events = ofSlice(4_095, count: 5)
            for (index, event) in events.enumerated() {
                try registry.remember([event], endedAtMilliseconds: now + Int64([3, 0, 4, 1, 2][index]) * hour)
            }
            let counts = try registry.forgetEvents(
                in: EventMemorySlice(-1), endedBeforeMilliseconds: now,
                eventsMaximum: 2 * EventMemorySlice.count + 1)
            try RegistryConformance.expect([counts.expired, counts.surplus], is: [0, 3], "the counts")
            try RegistryConformance.expect(
                Set(try known(events.map(\.identity), registry)), is: [events[0], events[2]], "the newest")
        },
    ]

    private static func known(
        _ identities: [EventIdentity], _ registry: any RegistryConformance.Store, since: Int64 = now
    ) throws -> [RememberedEvent] {
        try registry.rememberedEvents(among: identities, endedSinceMilliseconds: since)
    }

    private static func event(_ identifier: String, content: Int64) -> RememberedEvent {
        RememberedEvent(
            identity: EventIdentity(source: "shop", identifier: identifier, owner: "chat"), content: content)
    }

    /// An event whose key lies so far from the first of a part.
    private static func event(_ slice: Int, first offset: Int64) -> RememberedEvent {
        RememberedEvent(
            identity: EventIdentity(key: EventMemorySlice(slice).keys.lowerBound + offset, rest: offset), content: 0)
    }

    /// The first and the last key of a part, and some between.
    private static func ofSlice(_ slice: Int, count: Int64) -> [RememberedEvent] {
        let keys = EventMemorySlice(slice).keys
        return (0..<count).map { index in
            let key = index == count - 1 ? keys.upperBound : keys.lowerBound + index
            return RememberedEvent(identity: EventIdentity(key: key, rest: index), content: 0)
        }
    }
}
