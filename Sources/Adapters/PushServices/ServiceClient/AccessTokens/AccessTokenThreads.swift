import EventLoop
import Synchronization

/// The threads on which all accounts of the process fetch their access tokens.
///
/// A fetch may wait for an endpoint that does not answer. So each has a thread as long as it lasts, and waits for one
/// only if very many endpoints are silent at the same time. Between fetches, accounts have no thread.
final class AccessTokenThreads: Sendable {
    private struct State {
        var idle: [EventLoop] = []
        var busyCount = 0
        var waiting: [@Sendable () -> Void] = []
    }

    /// How many fetches there may be at the same time.
    private static let threadsMaximum = 32
    /// How many threads are kept that have nothing to do.
    private static let idleMaximum = 1

    private static let instance = Mutex<AccessTokenThreads?>(nil)

    /// Keeps the timers, and ends threads.
    private let timers: EventLoop
    private let state = Mutex(State())

    private init() throws(EventLoopError) { timers = try EventLoop(name: "access-tokens") }

    /// The threads of this process, which end with it.
    static func shared() throws(EventLoopError) -> AccessTokenThreads {
        try instance.withLock { (instance) throws(EventLoopError) in
            if let instance { return instance }
            let made = try AccessTokenThreads()
            instance = made
            return made
        }
    }

    /// Runs work that may wait.
    func run(_ work: @escaping @Sendable () -> Void) {
        let (loop, isAlone) = state.withLock { state -> (EventLoop?, Bool) in
            let loop =
                state.idle.popLast()
                ?? (state.busyCount < Self.threadsMaximum ? try? EventLoop(name: "access-token") : nil)
            if loop == nil { state.waiting.append(work) } else { state.busyCount += 1 }
            return (loop, state.busyCount == 0)
        }
        if let loop {
            loop.submit { self.work(work, on: loop) }
        } else if isAlone {
            // The system has no thread for it, and no other will take it.
            timers.submit { self.takeWaiting() }
        }
    }

    private func work(_ first: @Sendable () -> Void, on loop: EventLoop) {
        first()
        while let next = nextOrIdle(loop) { next() }
    }

    /// The work that waits; without any, the thread becomes idle in the same moment, so that no work is left behind.
    private func nextOrIdle(_ loop: EventLoop) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.busyCount -= 1
            if state.idle.count < Self.idleMaximum {
                state.idle.append(loop)
            } else {
                // A loop cannot wait for its own end.
                timers.submit { loop.stopAndJoin() }
            }
            return nil
        }
    }

    private func takeWaiting() {
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { next() }
    }

    /// Runs something short, later.
    func wake(afterNanoseconds delay: UInt64, _ work: @escaping @Sendable () -> Void) {
        timers.submit { [timers] in timers.schedule(afterNanoseconds: delay, handler: work) }
    }
}
