import Synchronization

/// The number of requests that all loops have answered, and the waits for a number.
public final class SimulatorProgress: Sendable {
    private struct Waiter {
        let identifier: Int
        let count: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Waiters {
        var all: [Waiter] = []
        var nextIdentifier = 0
    }

    private let answered = Atomic<Int>(0)
    /// The least awaited count, so that other answers take no lock.
    private let awaitedCount = Atomic<Int>(.max)
    private let waiters = Mutex(Waiters())

    /// Begins with none.
    public init() {}

    /// Notes one more answer.
    public func requestAnswered() {
        let count = answered.add(1, ordering: .sequentiallyConsistent).newValue
        if count >= awaitedCount.load(ordering: .sequentiallyConsistent) { resumeReached() }
    }

    /// Waits until `count` requests have been answered.
    ///
    /// - Parameters:
    ///   - count: how many, since the start.
    ///   - arm: is handed an action that ends the wait, for the caller's timer.
    /// - Returns: whether that many were answered.
    func wait(forCount count: Int, arm: (@escaping @Sendable () -> Void) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let identifier = waiters.withLock { waiters in
                defer { waiters.nextIdentifier += 1 }
                waiters.all.append(
                    Waiter(identifier: waiters.nextIdentifier, count: count, continuation: continuation))
                updateAwaitedCount(waiters)
                return waiters.nextIdentifier
            }
            arm { self.giveUp(identifier) }
            // The last answer may have come between the caller's look and the waiter's entry.
            resumeReached()
        }
    }

    private func resumeReached() {
        let count = answered.load(ordering: .sequentiallyConsistent)
        let reached = waiters.withLock { waiters in
            let reached = waiters.all.filter { $0.count <= count }
            waiters.all.removeAll { $0.count <= count }
            updateAwaitedCount(waiters)
            return reached
        }
        for waiter in reached { waiter.continuation.resume(returning: true) }
    }

    private func giveUp(_ identifier: Int) {
        let waiter = waiters.withLock { waiters -> Waiter? in
            guard let index = waiters.all.firstIndex(where: { $0.identifier == identifier }) else { return nil }
            defer { updateAwaitedCount(waiters) }
            return waiters.all.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }

    private func updateAwaitedCount(_ waiters: Waiters) {
        awaitedCount.store(waiters.all.map(\.count).min() ?? .max, ordering: .sequentiallyConsistent)
    }
}
