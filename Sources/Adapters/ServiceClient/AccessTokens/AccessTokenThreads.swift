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
        let loop = state.withLock { state -> EventLoop? in
            let loop =
                state.idle.popLast()
                ?? (state.busyCount < Self.threadsMaximum ? try? EventLoop(name: "access-token") : nil)
            if loop == nil { state.waiting.append(work) } else { state.busyCount += 1 }
            return loop
        }
        if let loop {
            loop.submit { self.work(work, on: loop) }
        } else if state.withLock({ $0.busyCount == 0 }) {
            // The system has no thread for it, and no other will take it.
            timers.submit { self.takeWaiting() }
        }
    }

    private func work(_ first: @Sendable () -> Void, on loop: EventLoop) {
        first()
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { next() }
        let isKept = state.withLock { state in
            state.busyCount -= 1
            guard state.idle.count < Self.idleMaximum else { return false }
            state.idle.append(loop)
            return true
        }
        // A loop cannot wait for its own end.
        if !isKept { timers.submit { loop.stopAndJoin() } }
    }

    private func takeWaiting() {
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { next() }
    }

    /// Runs something short, later.
    func wake(afterNanoseconds delay: UInt64, _ work: @escaping @Sendable () -> Void) {
        timers.submit { [timers] in timers.schedule(afterNanoseconds: delay, handler: work) }
    }
}
