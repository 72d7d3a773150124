import ChangeEvents
import DispatchCore
import RegistryCore

/// The registry's memory of events that are pushed once.
extension RegistryResponder {
    /// The questions about events that the registry remembers, by their indices.
    ///
    /// - Parameter questions: the questions of a batch; one statement looks for the events of all.
    /// - Returns: the answers; none if the registry has no memory yet.
    /// - Throws: `RegistryError` if the registry does not answer.
    func repeatedEvents(among questions: [AudienceQuestion]) throws(RegistryError) -> [Int: AudienceResult] {
        guard questions.contains(where: { !$0.identities.isEmpty }), try findsEventMemory() else { return [:] }
        let since = nowMilliseconds() - limits.eventMemoryMilliseconds
        var known: [EventIdentity: RememberedEvent] = [:]
        do throws(RegistryError) {
            for event in try registry.rememberedEvents(
                among: questions.flatMap(\.identities), endedSinceMilliseconds: since)
            {
                known[event.identity] = event
            }
        } catch {
            // A migration may have been undone.
            hasEventMemory = false
            throw error
        }
        guard !known.isEmpty else { return [:] }
        var decided: [Int: AudienceResult] = [:]
        for (index, question) in questions.enumerated() {
            let remembered = question.identities.compactMap { known[$0] }
            if !remembered.isEmpty { decided[index] = .repeated(remembered) }
        }
        return decided
    }

    /// Remembers events whose pushes have just ended, and forgets old ones of a part of the memory.
    ///
    /// - Returns: how many events were forgotten before their time.
    /// - Throws: `RegistryError` if the registry cannot be written.
    func remember(_ events: [RememberedEvent], _ slice: EventMemorySlice?) throws(RegistryError) -> Int {
        let now = nowMilliseconds()
        if let slice {
            let forgotten = try registry.forgetEvents(
                in: slice, endedBeforeMilliseconds: now - limits.eventMemoryMilliseconds,
                eventsMaximum: limits.rememberedEventsMaximum)
            try registry.remember(events, endedAtMilliseconds: now)
            return forgotten.surplus
        }
        try registry.remember(events, endedAtMilliseconds: now)
        return 0
    }

    private func findsEventMemory() throws(RegistryError) -> Bool {
        if !hasEventMemory { hasEventMemory = try registry.hasEventMemory() }
        return hasEventMemory
    }
}
