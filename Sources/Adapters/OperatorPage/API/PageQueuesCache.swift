import EventLoop
import Synchronization

/// Remembers the queues for some seconds, so that pages that are open cost RabbitMQ one look each few seconds together.
final class PageQueuesCache: Sendable {
    /// What RabbitMQ said, or why it did not.
    struct Reading: Sendable {
        var queues: PageQueues?
        var problem: String?
        var atMilliseconds: Int64
    }

    private struct State {
        var reading: Reading?
        var readNanoseconds: UInt64 = 0
        /// The look that is under way.
        var look: Task<Reading, Never>?
    }

    private static let freshNanoseconds: UInt64 = 5 * 1_000_000_000
    private let broker: any PageBroker
    private let state = Mutex(State())

    init(_ broker: any PageBroker) { self.broker = broker }

    /// The queues, at most some seconds old; several callers wait for one look.
    func reading() async -> Reading {
        let (reading, look) = state.withLock { state -> (Reading?, Task<Reading, Never>?) in
            if let look = state.look { return (nil, look) }
            let age = MonotonicClock.nowNanoseconds() - state.readNanoseconds
            if let reading = state.reading, age < Self.freshNanoseconds { return (reading, nil) }
            let look = Task { await self.look() }
            state.look = look
            return (nil, look)
        }
        if let reading { return reading }
        return await look?.value ?? Reading(atMilliseconds: WallClock.nowMilliseconds())
    }

    private func look() async -> Reading {
        var reading = Reading(atMilliseconds: WallClock.nowMilliseconds())
        do {
            reading.queues = try await broker.queues()
        } catch {
            reading.problem = "\(error)"
        }
        state.withLock { [reading] state in
            state.reading = reading
            state.readNanoseconds = MonotonicClock.nowNanoseconds()
            state.look = nil
        }
        return reading
    }
}
