import DispatchCore
import RegistryCore
import Synchronization

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
