public import RegistryCore
import Synchronization

/// A follower of the events that a registry remembers.
public final class TestEventMemory: EventMemoryFollower {
    private let knowledge: Mutex<EventMemoryKnowledge>

    /// Begins with nothing.
    public init(rememberMilliseconds milliseconds: Int64, eventsMaximum maximum: Int) {
        knowledge = Mutex(EventMemoryKnowledge(rememberMilliseconds: milliseconds, eventsMaximum: maximum))
    }

    /// Runs `body` with the knowledge, under the lock.
    public func withKnowledge<Value: Sendable>(_ body: (inout EventMemoryKnowledge) -> Value) -> Value {
        knowledge.withLock { body(&$0) }
    }
}
