import Synchronization

/// A state that several threads change and tests wait on: a test waits for a condition, and continues as soon as a
/// change makes it true.
public final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        var identifier: Int
        var condition: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct Guarded {
        var state: State
        var waiters: [Waiter] = []
        var nextIdentifier = 0
    }

    private let guarded: Mutex<Guarded>

    /// Creates the state.
    public init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    /// The state now.
    public var value: State { guarded.withLock { $0.state } }

    /// Looks at the state without a copy, which the next change would pay for.
    public func read<Result: Sendable>(_ look: (State) -> Result) -> Result { guarded.withLock { look($0.state) } }

    /// Changes the state, and wakes the tests whose condition has become true.
    ///
    /// - Parameter change: changes the state; it must not wait for anything.
    /// - Returns: the result of `change`.
    @discardableResult
    public func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, woken) = guarded.withLock { guarded in
            let result = change(&guarded.state)
            guard !guarded.waiters.isEmpty else { return (result, [Waiter]()) }
            let state = guarded.state
            let woken = guarded.waiters.filter { $0.condition(state) }
            guarded.waiters.removeAll { $0.condition(state) }
            return (result, woken)
        }
        for waiter in woken { waiter.continuation.resume(returning: true) }
        return result
    }

    /// Waits until a condition is true.
    ///
    /// - Parameters:
    ///   - deadlineSeconds: generous: it only ends a hang.
    ///   - condition: looks at the state.
    /// - Returns: whether the condition became true before the deadline.
    public func wait(
        deadlineSeconds: Double = 300, until condition: @escaping @Sendable (State) -> Bool
    ) async -> Bool {
        if read(condition) { return true }
        let identifier = guarded.withLock { guarded in
            guarded.nextIdentifier += 1
            return guarded.nextIdentifier
        }
        let deadline = Task {
            try await Task.sleep(nanoseconds: UInt64(deadlineSeconds * 1_000_000_000))
            self.giveUp(identifier)
        }
        defer { deadline.cancel() }
        return await withCheckedContinuation { continuation in
            let isTrue = guarded.withLock { guarded in
                if condition(guarded.state) { return true }
                guarded.waiters.append(
                    Waiter(identifier: identifier, condition: condition, continuation: continuation))
                return false
            }
            if isTrue { continuation.resume(returning: true) }
        }
    }

    private func giveUp(_ identifier: Int) {
        let waiter = guarded.withLock { guarded -> Waiter? in
            guard let index = guarded.waiters.firstIndex(where: { $0.identifier == identifier }) else { return nil }
            return guarded.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }
}
