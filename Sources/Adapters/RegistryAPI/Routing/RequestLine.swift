import EventLoop
import Synchronization

/// The requests that wait for one loop of the registry, taken in turns between credentials.
///
/// The loop takes one request a tick, so that its timers and descriptors have their turn between any two.
final class RequestLine: Sendable {
    /// A request that waits.
    struct Entry: Sendable {
        /// What to do when its turn has come; runs on the loop.
        let work: @Sendable (RegistryContext) -> Void
        /// What to do if it may not wait.
        let refuse: @Sendable (FairQueueRefusal) -> Void
    }

    private struct State {
        var queue: FairQueue<Entry>
        var isRunning = false
    }

    /// How many requests may wait.
    static let countMaximum = 256
    /// How many requests of one credential may wait.
    static let shareMaximum = 128

    /// What the requests work with.
    let context: LoopBound<RegistryContext>
    private let state = Mutex(
        State(queue: FairQueue(countMaximum: RequestLine.countMaximum, shareMaximum: RequestLine.shareMaximum)))

    init(_ context: LoopBound<RegistryContext>) { self.context = context }

    /// Lets a request wait for its turn; from any thread.
    ///
    /// - Parameters:
    ///   - entry: the request.
    ///   - credential: whose turn it is to be.
    func append(_ entry: Entry, of credential: String) {
        let (placement, isToBegin) = state.withLock { state in
            let placement = state.queue.append(entry, of: credential)
            let isToBegin = !state.isRunning && state.queue.count > 0
            if isToBegin { state.isRunning = true }
            return (placement, isToBegin)
        }
        if isToBegin { runNextTick() }
        switch placement {
        case .waiting: break
        case .displacing(let other): other.refuse(.full)
        case .refused(let reason): entry.refuse(reason)
        }
    }

    private func runNextTick() { context.loop.submit { [self] in run() } }

    private func run() {
        let entry = state.withLock { state in
            let entry = state.queue.popFirst()
            if entry == nil { state.isRunning = false }
            return entry
        }
        guard let entry else { return }
        entry.work(context.value)
        runNextTick()
    }
}
