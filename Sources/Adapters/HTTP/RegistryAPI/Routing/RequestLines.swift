import EventLoop
import HTTPServer
import Synchronization

/// The two lines in which requests wait for the registry: reads and writes.
///
/// Each has its own loop and its own connection to the store, so that no reader waits for a writer.
struct RequestLines: Sendable {
    /// When a refused request may be tried again, whether its credential or all together had too many waiting.
    private static let retryAfterSeconds = 1

    let reading: RequestLine
    let writing: RequestLine

    /// Goes the way of a request step by step, until there is an answer.
    ///
    /// - Parameters:
    ///   - step: the next step.
    ///   - request: to be answered.
    ///   - credential: the sender, as far as known.
    ///   - api: the API that gives a refusal its form.
    func proceed(_ step: RegistryStep, _ request: SuspendedRequest, of credential: String, _ api: any ClientAPI) {
        let line: RequestLine
        let work: @Sendable (RegistryContext) -> RegistryStep
        switch step {
        case .answered(let response): return request.answer(response)
        case .suspended(let begin): return begin(request)
        case .reading(let next): (line, work) = (reading, next)
        case .writing(let next): (line, work) = (writing, next)
        }
        line.append(
            RequestLine.Entry { context in
                proceed(work(context), request, of: credential, api)
            } refuse: { reason in
                request.answer(Self.refusal(reason, api))
            }, of: credential)
    }

    /// Finds out whether a long body may come.
    ///
    /// - Parameters:
    ///   - credential: the sender, as far as known.
    ///   - api: the API that gives a refusal its form.
    ///   - work: asks the registry; gives the answer if it may not come.
    ///   - decide: takes that answer, or nil.
    func admitBody(
        of credential: String, _ api: any ClientAPI, _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse?,
        decide: @escaping @Sendable (HTTPResponse?) -> Void
    ) {
        reading.append(
            RequestLine.Entry { context in
                decide(work(context))
            } refuse: { reason in
                decide(Self.refusal(reason, api))
            }, of: credential)
    }

    private static func refusal(_ reason: FairQueueRefusal, _ api: any ClientAPI) -> HTTPResponse {
        switch reason {
        case .share:
            api.refusal(
                429, "too many requests of this sender wait already", retryAfterSeconds: retryAfterSeconds)
        case .full:
            api.refusal(503, "too many requests are waiting; try again", retryAfterSeconds: retryAfterSeconds)
        }
    }
}

/// The requests that wait for one loop of the registry, taken in turns between credentials.
///
/// The loop takes one request a tick, so that its timers and descriptors have their turn between any two.
final class RequestLine: Sendable {
    /// A request that waits.
    struct Entry: Sendable {
        /// The work when its turn has come; runs on the loop.
        let work: @Sendable (RegistryContext) -> Void
        /// The answer if it may not wait.
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

    /// The context of the requests.
    let context: LoopBound<RegistryContext>
    private let state = Mutex(
        State(queue: FairQueue(countMaximum: RequestLine.countMaximum, shareMaximum: RequestLine.shareMaximum)))

    init(_ context: LoopBound<RegistryContext>) { self.context = context }

    /// Lets a request wait for its turn; from any thread.
    ///
    /// - Parameters:
    ///   - entry: the request.
    ///   - credential: the sender that waits for the turn.
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
