internal import APNsTransport
import Notifications
internal import ServiceClient
internal import Synchronization

/// The pushes of one call: takes tokens as far as its window allows, and gathers results until the caller takes them.
///
/// Bounded by the window: unread results keep their places in it, so nothing more is sent.
final class PushJob: Sendable {
    /// A result, and which of the call's tokens it is for.
    typealias Numbered = (index: Int, result: PushResult)

    private struct State {
        var inFlight: [Int: PushToken] = [:]
        var ready: [Numbered] = []
        var next = 0
        var isCancelled = false
        /// Whether no more tokens come.
        var isExhausted = false
        var consumer: CheckedContinuation<Void, Never>?
        var producer: CheckedContinuation<Void, Never>?
    }

    private let number: UInt32
    private let content: PushContent
    private let identity: PushIdentity
    private let route: Int
    private let windowCount: Int
    private let client: APNsClient
    private let jobs: PushJobs
    private let instruments: PushInstruments?
    private let state = Mutex(State())

    init(
        number: UInt32, content: PushContent, identity: PushIdentity, route: Int, windowCount: Int,
        client: APNsClient, jobs: PushJobs, instruments: PushInstruments?
    ) {
        self.number = number
        self.content = content
        self.identity = identity
        self.route = route
        self.windowCount = windowCount
        self.client = client
        self.jobs = jobs
        self.instruments = instruments
    }

    // MARK: Tokens

    /// How many more tokens the window takes now; none when cancelled.
    var room: Int {
        state.withLock { $0.isCancelled ? 0 : windowCount - $0.inFlight.count - $0.ready.count }
    }

    /// Sends to more tokens, which must fit into the window; to none if the job was cancelled.
    func send(to tokens: [PushToken]) {
        guard !tokens.isEmpty else { return }
        let first: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            let first = state.next
            state.next += tokens.count
            for (offset, token) in tokens.enumerated() { state.inFlight[first + offset] = token }
            return first
        }
        guard let first else { return }
        instruments?.sent(tokens.count)
        client.send(
            tokens.enumerated().map { offset, token in
                PushRequest(
                    identifier: UInt64(number) << 32 | UInt64(first + offset), route: route, token: token.deviceToken,
                    apnsID: identity.apnsID(for: token.deviceToken), content: content)
            })
    }

    /// No more tokens come.
    func exhausted() {
        let consumer = state.withLock { state in
            state.isExhausted = true
            return state.consumer.take()
        }
        consumer?.resume()
    }

    /// Waits until the window has room, or the job is cancelled.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = state.isCancelled || state.inFlight.count + state.ready.count < windowCount
                if !isReady { state.producer = continuation }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    // MARK: Results

    /// Whether results wait to be read.
    var hasResults: Bool { state.withLock { !$0.ready.isEmpty } }

    /// Pushes of this job ended.
    func ended(_ results: ArraySlice<Notifications.PushResult>) {
        let (consumer, isCancelled) = state.withLock { state in
            for result in results {
                let index = Int(result.identifier & 0xFFFF_FFFF)
                // A cancelled push has its result already.
                guard let token = state.inFlight.removeValue(forKey: index) else { continue }
                state.ready.append((index, self.result(token, PushOutcome(result.outcome))))
            }
            return (state.consumer.take(), state.isCancelled)
        }
        if !isCancelled { instruments?.ended(results) }
        consumer?.resume()
    }

    /// The results since the last call, at least one; empty when all pushes have ended.
    func nextResults() async -> [Numbered] {
        while true {
            let (ready, isOver, producer) = state.withLock { state in
                let ready = state.ready
                state.ready = []
                // Only results that are taken make room.
                let producer = ready.isEmpty ? nil : state.producer.take()
                return (ready, state.isExhausted && state.inFlight.isEmpty, producer)
            }
            producer?.resume()
            if !ready.isEmpty { return ready }
            if isOver {
                jobs.remove(number)
                return []
            }
            await waitForResults()
        }
    }

    private func waitForResults() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = !state.ready.isEmpty || state.isExhausted && state.inFlight.isEmpty
                if !isReady { state.consumer = continuation }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    /// Whether the job was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The caller does not wait any more: pushes in flight end as ambiguous, and no more tokens are taken.
    func cancel() {
        let (consumer, producer, cancelledCount) = state.withLock { state in
            let cancelledCount = state.inFlight.count
            state.isCancelled = true
            state.isExhausted = true
            for (index, token) in state.inFlight {
                state.ready.append((index, result(token, .failed(.ambiguous("cancelled before the answer came")))))
            }
            state.inFlight = [:]
            return (state.consumer.take(), state.producer.take(), cancelledCount)
        }
        instruments?.cancelled(cancelledCount)
        consumer?.resume()
        producer?.resume()
        jobs.remove(number)
    }

    /// The result of a token that was not sent to because the job was cancelled.
    func unsent(_ token: PushToken) -> PushResult { result(token, .failed(.notProcessed("cancelled"))) }

    private func result(_ token: PushToken, _ outcome: PushOutcome) -> PushResult {
        PushResult(token: token, apnsID: identity.apnsID(for: token.deviceToken).description, outcome: outcome)
    }
}

/// The jobs of one client: hands each result to the job that it belongs to.
final class PushJobs: PushTransportHandler {
    private struct State {
        var byNumber: [UInt32: PushJob] = [:]
        var next: UInt32 = 0
    }

    private let state = Mutex(State())

    /// How many jobs have not ended.
    var count: Int { state.withLock { $0.byNumber.count } }

    /// Makes a job under a number of its own.
    func add(_ make: (UInt32) -> PushJob) -> PushJob {
        state.withLock { state in
            repeat { state.next &+= 1 } while state.byNumber[state.next] != nil
            let job = make(state.next)
            state.byNumber[state.next] = job
            return job
        }
    }

    /// Forgets a job; later results of it are dropped.
    func remove(_ number: UInt32) { state.withLock { _ = $0.byNumber.removeValue(forKey: number) } }

    func pushesEnded(_ results: [Notifications.PushResult]) {
        var rest = results[...]
        while let first = rest.first {
            let number = UInt32(first.identifier >> 32)
            let run = rest.prefix { UInt32($0.identifier >> 32) == number }
            rest = rest.dropFirst(run.count)
            let job = state.withLock { $0.byNumber[number] }
            job?.ended(run)
        }
    }
}
