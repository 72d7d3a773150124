package import Notifications
internal import Synchronization

/// The common parts of all pushes of one call.
package struct PushOrder: Sendable {
    /// The payload and the shared headers.
    package var content: PushContent
    /// The transport's route.
    package var route: Int
    /// Derives the `apns-id` of each push; nil for a service that knows none.
    package var identity: PushIdentity?

    /// Describes a call.
    package init(content: PushContent, route: Int, identity: PushIdentity? = nil) {
        self.content = content
        self.route = route
        self.identity = identity
    }
}

/// The pushes of one call: takes tokens as far as its window allows, and gathers outcomes until the caller takes them.
///
/// Bounded by the window: unread outcomes keep their places in it, so nothing more is sent.
package final class PushJob: Sendable {
    /// How many pushes of one call are out at a time; more wait with the caller.
    private static let windowCount = 4_096

    /// How a push ended, and which of the call's tokens it was for.
    typealias Ending = (index: Int, token: DeviceToken, outcome: AttemptOutcome)

    private struct State {
        var inFlight: [Int: DeviceToken] = [:]
        var ready: [Ending] = []
        var next = 0
        var isCancelled = false
        /// Whether no more tokens come.
        var isExhausted = false
        var consumer: CheckedContinuation<Void, Never>?
        var producer: CheckedContinuation<Void, Never>?

        /// How many more tokens the window takes now.
        var room: Int { windowCount - inFlight.count - ready.count }
    }

    private let number: UInt32
    private let order: PushOrder
    private let transport: any PushTransport
    private let jobs: PushJobs
    private let instruments: PushInstruments?
    private let state = Mutex(State())

    init(
        number: UInt32, order: PushOrder, transport: any PushTransport, jobs: PushJobs, instruments: PushInstruments?
    ) {
        self.number = number
        self.order = order
        self.transport = transport
        self.jobs = jobs
        self.instruments = instruments
    }

    // MARK: Tokens

    /// How many more tokens the window takes now; none when cancelled.
    var room: Int { state.withLock { $0.isCancelled ? 0 : $0.room } }

    /// Sends to more tokens, which must fit into the window; to none if the job was cancelled.
    func send(to tokens: [DeviceToken]) {
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
        transport.send(
            tokens.enumerated().map { offset, token in
                PushRequest(
                    identifier: UInt64(number) << 32 | UInt64(first + offset), route: order.route, token: token,
                    apnsID: order.identity?.apnsID(for: token) ?? APNsIdentifier(high: 0, low: 0),
                    content: order.content)
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
                let isReady = state.isCancelled || state.room > 0
                if !isReady { state.producer = continuation }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    // MARK: Outcomes

    /// Whether outcomes wait to be read.
    var hasEndings: Bool { state.withLock { !$0.ready.isEmpty } }

    /// Pushes of this job ended.
    func ended(_ results: ArraySlice<AttemptResult>) {
        let (consumer, isCancelled) = state.withLock { state in
            for result in results {
                let index = Int(result.identifier & 0xFFFF_FFFF)
                // A cancelled push has its outcome already.
                guard let token = state.inFlight.removeValue(forKey: index) else { continue }
                state.ready.append((index, token, result.outcome))
            }
            return (state.consumer.take(), state.isCancelled)
        }
        if !isCancelled { instruments?.ended(results) }
        consumer?.resume()
    }

    /// The pushes that ended since the last call, at least one; empty when all have ended.
    func nextEndings() async -> [Ending] {
        while true {
            let (ready, isOver, producer) = state.withLock { state in
                let ready = state.ready
                state.ready = []
                // Only outcomes that are taken make room.
                let producer = ready.isEmpty ? nil : state.producer.take()
                return (ready, state.isExhausted && state.inFlight.isEmpty, producer)
            }
            producer?.resume()
            if !ready.isEmpty { return ready }
            if isOver {
                jobs.remove(number)
                return []
            }
            await waitForEndings()
        }
    }

    private func waitForEndings() async {
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
                state.ready.append((index, token, .ambiguous("cancelled before the answer came")))
            }
            state.inFlight = [:]
            return (state.consumer.take(), state.producer.take(), cancelledCount)
        }
        instruments?.cancelled(cancelledCount)
        consumer?.resume()
        producer?.resume()
        jobs.remove(number)
    }

    // MARK: All at once

    /// Sends to these tokens and waits for all; cancelling the task cancels the job.
    ///
    /// - Returns: the outcome for each token, in the order of the tokens.
    func run(_ tokens: [DeviceToken]) async -> [AttemptOutcome] {
        await withTaskCancellationHandler {
            await sendAll(tokens)
        } onCancel: {
            cancel()
        }
    }

    private func sendAll(_ tokens: [DeviceToken]) async -> [AttemptOutcome] {
        // A token that is not sent to keeps this one.
        var outcomes = [AttemptOutcome](repeating: .notProcessed("cancelled"), count: tokens.count)
        var next = 0
        while true {
            let count = min(max(0, room), tokens.count - next)
            send(to: Array(tokens[next..<next + count]))
            next += count
            if next == tokens.count { exhausted() }
            let ended = await nextEndings()
            for ending in ended { outcomes[ending.index] = ending.outcome }
            if ended.isEmpty { return outcomes }
        }
    }
}

/// The jobs of one client: hands each result to the job that it belongs to.
package final class PushJobs: PushTransportHandler {
    private struct State {
        var byNumber: [UInt32: PushJob] = [:]
        var next: UInt32 = 0
    }

    private let state = Mutex(State())

    /// How many jobs have not ended.
    package var count: Int { state.withLock { $0.byNumber.count } }

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

    /// Pushes of some jobs ended.
    package func pushesEnded(_ results: [AttemptResult]) {
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
