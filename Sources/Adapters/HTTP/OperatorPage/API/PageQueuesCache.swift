import EventLoop
import Synchronization

/// Remembers the queues for some seconds, so that pages that are open cost RabbitMQ one look each few seconds together.
///
/// A look goes on in the background, and meanwhile the last reading counts: a broker that does not answer holds up no
/// page.
final class PageQueuesCache: Sendable {
    /// RabbitMQ's answer, or the reason for its absence.
    struct Reading: Sendable {
        var queues: PageQueues?
        var problem: String?
        var atMilliseconds: Int64
    }

    private struct State {
        var reading: Reading?
        var readNanoseconds: UInt64 = 0
        var isLooking = false
        /// How often the readings were forgotten: a look that began before says nothing.
        var forgottenCount = 0
    }

    private static let freshNanoseconds: UInt64 = 5 * 1_000_000_000
    private static let firstLookSteps = 20
    private static let firstLookStep = Duration.milliseconds(100)
    private let broker: any PageBroker
    private let state = Mutex(State())

    init(_ broker: any PageBroker) { self.broker = broker }

    /// The last reading, which is renewed in the background if it is some seconds old.
    ///
    /// The first one is waited for, two seconds at most.
    func reading() async -> Reading {
        let now = MonotonicClock.nowNanoseconds()
        let (known, isDue, forgottenCount) = state.withLock { state in
            let isFresh = state.reading != nil && now < state.readNanoseconds + Self.freshNanoseconds
            let isDue = !isFresh && !state.isLooking
            if isDue { state.isLooking = true }
            return (state.reading, isDue, state.forgottenCount)
        }
        if isDue { Task { await self.look(forgottenCount) } }
        if let known { return known }
        for _ in 0..<Self.firstLookSteps {
            if let reading = state.withLock({ $0.reading }) { return reading }
            try? await Task.sleep(for: Self.firstLookStep)
        }
        return Reading(problem: "no answer yet", atMilliseconds: WallClock.nowMilliseconds())
    }

    /// Forgets the readings, because somebody has just changed what is in the queues.
    func forget() {
        state.withLock { state in
            state.reading = nil
            state.isLooking = false
            state.forgottenCount += 1
        }
    }

    private func look(_ forgottenCount: Int) async {
        var reading = Reading(atMilliseconds: WallClock.nowMilliseconds())
        do {
            reading.queues = try await broker.queues()
        } catch {
            reading.problem = "\(error)"
        }
        state.withLock { [reading] state in
            guard state.forgottenCount == forgottenCount else { return }
            state.reading = reading
            state.readNanoseconds = MonotonicClock.nowNanoseconds()
            state.isLooking = false
        }
    }
}
