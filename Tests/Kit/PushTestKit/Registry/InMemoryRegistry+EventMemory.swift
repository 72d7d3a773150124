public import ChangeEvents
public import RegistryCore

/// An event that a registry in memory remembers.
struct InMemoryEvent {
    let event: RememberedEvent
    let endedSeconds: Int64
}

extension InMemoryRegistry: EventMemoryRegistry {
    /// Whether the registry has the tables of the memory.
    public func hasEventMemory() throws(RegistryError) -> Bool {
        try check()
        return true
    }

    /// The events among some that it remembers.
    public func rememberedEvents(
        among identities: [EventIdentity], endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [RememberedEvent] {
        try check()
        return identities.compactMap { identity in
            guard let known = rememberedEvents[identity.key], known.event.identity == identity,
                known.endedSeconds >= milliseconds / 1_000
            else { return nil }
            return known.event
        }
    }

    /// The content of a remembered event whose owner is not known.
    public func rememberedContent(
        ofKey key: Int64, endedSinceMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> Int64? {
        try check()
        return rememberedEvents[key].flatMap { $0.endedSeconds >= milliseconds / 1_000 ? $0.event.content : nil }
    }

    /// Remembers events.
    public func remember(
        _ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64
    ) throws(RegistryError) {
        try check()
        for event in events {
            rememberedEvents[event.identity.key] = InMemoryEvent(event: event, endedSeconds: milliseconds / 1_000)
        }
    }

    /// Forgets the events of a part that are too old, and the oldest of those that are too many.
    public func forgetEvents(
        in slice: EventMemorySlice, endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int
    ) throws(RegistryError) -> (expired: Int, surplus: Int) {
        try check()
        let ofSlice = rememberedEvents.filter { slice.keys.contains($0.key) }
        let expired = ofSlice.filter { $0.value.endedSeconds < milliseconds / 1_000 }
        let surplus = ofSlice.filter { expired[$0.key] == nil }
            .sorted { ($1.value.endedSeconds, $0.key) < ($0.value.endedSeconds, $1.key) }
            .dropFirst(slice.share(of: maximum))
        for key in expired.keys { rememberedEvents[key] = nil }
        for (key, _) in surplus { rememberedEvents[key] = nil }
        return (expired.count, surplus.count)
    }
}
