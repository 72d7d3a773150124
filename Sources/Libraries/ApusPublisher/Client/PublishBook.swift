import ChangeEvents
import ChangeQueue
import EventLoop
import Synchronization

/// Keeps the window of one publisher: hands events to the connection, and outcomes to the calls that wait for them.
final class PublishBook: PublishHandler {
    private struct State {
        var window: PublishWindow
        /// The calls that wait, by batch.
        var calls: [Int: CheckedContinuation<[PublishResult], Never>] = [:]
        /// The results of batches whose call does not wait yet.
        var early: [Int: [PublishResult]] = [:]
        /// When each batch was last confirmed something, or began.
        var progress: [Int: ContinuousClock.Instant] = [:]
        var isClosed = false
        /// Why events wait now; nil while the connection is ready.
        var obstacle: String?
    }

    private let state: Mutex<State>
    private let connection: ConfirmedPublisher
    private let exchange: String
    private let stateHandler: (@Sendable (PublisherState) -> Void)?

    init(
        _ connection: ConfirmedPublisher, exchange: String, roomMaximum: Int,
        stateHandler: (@Sendable (PublisherState) -> Void)?
    ) {
        self.connection = connection
        self.exchange = exchange
        self.stateHandler = stateHandler
        state = Mutex(State(window: PublishWindow(roomMaximum: roomMaximum), obstacle: "it is not connected yet"))
    }

    /// How many events are with the connection.
    var sentCount: Int { state.withLock { $0.window.sentCount } }

    // MARK: Calls

    /// Takes a batch; its events go to the connection as there is room.
    ///
    /// - Returns: its number; nil if the publisher is closed.
    func add(_ events: [Event]) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let batch = state.window.add(events)
            state.progress[batch] = .now
            send(&state)
            return batch
        }
    }

    /// Hands the results of a batch to a call, now or later.
    func wait(for batch: Int, _ call: CheckedContinuation<[PublishResult], Never>) {
        let results = state.withLock { state -> [PublishResult]? in
            if let results = state.early.removeValue(forKey: batch) { return results }
            state.calls[batch] = call
            return nil
        }
        if let results { call.resume(returning: results) }
    }

    /// When a batch was last confirmed something, or began; nil if it has all results.
    func progress(of batch: Int) -> ContinuousClock.Instant? { state.withLock { $0.progress[batch] } }

    /// Ends a batch that took too long.
    func giveUp(_ batch: Int, after timeout: Duration) {
        abandon(batch) { obstacle in
            PublisherError(
                .timedOut,
                "RabbitMQ did not confirm the event within \(timeout)" + (obstacle.map { ": \($0)" } ?? "")
                    + "; it may have it, or may still get it: publish it again later, with the same id")
        }
    }

    /// Ends a batch whose task was cancelled.
    func cancel(_ batch: Int) {
        abandon(batch) { _ in
            PublisherError(.cancelled, "the task was cancelled; RabbitMQ may have the event, or may still get it")
        }
    }

    private func abandon(_ batch: Int, _ error: (_ obstacle: String?) -> PublisherError) {
        let finished = state.withLock { state -> FinishedCall? in
            guard let results = state.window.abandon(batch, because: error(state.obstacle)) else { return nil }
            return finish(batch, results, &state)
        }
        finished?.resume()
    }

    // MARK: The end

    /// Takes no more batches, and lets those that there are go to the connection.
    ///
    /// - Returns: whether it was open until now.
    func beginClosing() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            state.window.removeBound()
            send(&state)
            return true
        }
    }

    /// Ends what has no outcome.
    func finishClosing() {
        for batch in state.withLock({ $0.window.openBatches }) {
            abandon(batch) { _ in
                PublisherError(.closed, "the publisher was closed before RabbitMQ confirmed the event")
            }
        }
    }

    // MARK: Outcomes

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        let isAnyConfirmed = outcomes.contains { $0.outcome == .confirmed }
        let (finished, isReadyAgain) = state.withLock { state -> ([FinishedCall], Bool) in
            var finished: [FinishedCall] = []
            let isReadyAgain = isAnyConfirmed && state.obstacle != nil
            if isReadyAgain { state.obstacle = nil }
            for (identifier, outcome) in outcomes {
                guard let batch = state.window.ended(identifier, PublishResult(outcome)) else { continue }
                state.progress[batch] = .now
                guard let results = state.window.takeResults(of: batch) else { continue }
                if let call = finish(batch, results, &state) { finished.append(call) }
            }
            send(&state)
            return (finished, isReadyAgain)
        }
        if isReadyAgain { stateHandler?(.ready("RabbitMQ confirms events again")) }
        for call in finished { call.resume() }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        state.withLock { $0.obstacle = isReady ? nil : reason }
        stateHandler?(isReady ? .ready(reason) : .waiting(reason))
    }

    /// Under the lock, so that events of different batches reach the connection in their order.
    private func send(_ state: inout State) {
        let outgoing = state.window.takeOutgoing()
        guard !outgoing.isEmpty else { return }
        let now = UInt64(max(0, WallClock.nowMilliseconds() / 1_000))
        connection.publish(
            outgoing.map { outgoing in
                OutgoingMessage(
                    identifier: outgoing.identifier, exchange: exchange, routingKey: outgoing.event.routingKey,
                    message: outgoing.event.message(unixSeconds: now))
            })
    }

    private struct FinishedCall {
        let call: CheckedContinuation<[PublishResult], Never>
        let results: [PublishResult]

        func resume() { call.resume(returning: results) }
    }

    private func finish(_ batch: Int, _ results: [PublishResult], _ state: inout State) -> FinishedCall? {
        state.progress[batch] = nil
        guard let call = state.calls.removeValue(forKey: batch) else {
            state.early[batch] = results
            return nil
        }
        return FinishedCall(call: call, results: results)
    }
}

extension PublishResult {
    init(_ outcome: PublishOutcome) {
        self =
            switch outcome {
            case .confirmed: .confirmed
            case .returned(let text):
                .failed(
                    PublisherError(
                        .unroutable,
                        "no queue takes the event: \(text); has 'apus topology apply' been run, and may the user "
                            + "write to the exchange?"))
            case .refused:
                .failed(
                    PublisherError(
                        .refused,
                        "RabbitMQ kept refusing the event (basic.nack): a queue is full, or has lost its leader; "
                            + "publish it again later, with the same id"))
            case .rejected(let text):
                .failed(PublisherError(.rejected, "RabbitMQ does not accept such a message: \(text)"))
            }
    }
}
