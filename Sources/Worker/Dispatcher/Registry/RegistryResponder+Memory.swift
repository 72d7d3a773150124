import ChangeEvents
import DispatchCore
import RegistryCore
import Synchronization

/// The registry's memory of events that are pushed once.
extension RegistryResponder {
    /// Whether events are remembered at all.
    var remembersEvents: Bool { limits.eventMemoryMilliseconds > 0 }

    /// The questions about events that the registry remembers, by their indices.
    ///
    /// - Parameter questions: the questions of a batch.
    /// - Returns: the answers; none if the registry has no memory yet.
    /// - Throws: `RegistryError` if the registry does not answer.
    func repeatedEvents(among questions: [AudienceQuestion]) throws(RegistryError) -> [Int: AudienceResult] {
        guard questions.contains(where: { !$0.identities.isEmpty }) else { return [:] }
        let events = try memory.rememberedEvents(
            among: questions.flatMap(\.identities), in: registry, atMilliseconds: nowMilliseconds())
        metrics.eventMemoryChanged(memory.memoryBytes)
        guard !events.isEmpty else { return [:] }
        let known = Dictionary(uniqueKeysWithValues: events.map { ($0.identity, $0) })
        var decided: [Int: AudienceResult] = [:]
        for (index, question) in questions.enumerated() {
            let remembered = question.identities.compactMap { known[$0] }
            if !remembered.isEmpty { decided[index] = .repeated(remembered) }
        }
        return decided
    }

    /// Remembers events whose pushes have just ended, and forgets old ones, once a second at most.
    ///
    /// Without events it forgets in any case, and so finds out whether the registry can be written.
    ///
    /// - Returns: how many events were forgotten before their time.
    /// - Throws: `RegistryError` if the registry cannot be written.
    func remember(_ events: [RememberedEvent]) throws(RegistryError) -> Int {
        let now = nowMilliseconds()
        try registry.remember(events, endedAtMilliseconds: now)
        guard events.isEmpty || now >= forgetsEventsAtMilliseconds else { return 0 }
        let limit = EventMemoryRules.blocksForgottenAtOnce
        let (blocks, surplusEvents) = try registry.forgetEvents(
            endedBeforeMilliseconds: now - limits.eventMemoryMilliseconds,
            eventsMaximum: limits.rememberedEventsMaximum, limit: limit)
        // As long as there is more to forget, each request forgets some.
        if blocks < limit { forgetsEventsAtMilliseconds = now + Self.forgettingIntervalMilliseconds }
        return surplusEvents
    }
}

/// The follower of remembered events that the look-ups of a process share.
final class SharedEventMemory: EventMemoryFollower {
    private let knowledge: Mutex<EventMemoryKnowledge>

    /// Follows the events that are remembered by these limits.
    init(_ limits: DispatchLimits) {
        knowledge = Mutex(
            EventMemoryKnowledge(
                rememberMilliseconds: limits.eventMemoryMilliseconds, eventsMaximum: limits.rememberedEventsMaximum))
    }

    func withKnowledge<Value: Sendable>(_ body: (inout EventMemoryKnowledge) -> Value) -> Value {
        knowledge.withLock { body(&$0) }
    }
}
