import ChangeEvents
import ChangeQueue
import PushTestKit

/// Publishes numbered messages without a pause until it is told to end, as backends do under load.
final class EndlessPublisher: PublishHandler {
    private static let batchSize: UInt64 = 50

    private struct State: Sendable {
        var published: UInt64 = 0
        var confirmed: UInt64 = 0
        var returned: UInt64 = 0
        var isEnding = false
    }

    private let publisher: ConfirmedPublisher
    private let queue: TestQueue
    private let state = Watched(State())

    init(_ queue: TestQueue) throws {
        self.queue = queue
        publisher = try queue.makePublisher()
        publisher.start(handler: self)
        publishBatch()
    }

    /// How many messages were confirmed until now.
    var confirmedCount: UInt64 { state.value.confirmed }
    /// How many came back because no queue took them.
    var returnedCount: UInt64 { state.value.returned }

    private func publishBatch() {
        let first = state.value.published
        state.update { $0.published += Self.batchSize }
        publisher.publish(queue.messages(first..<first + Self.batchSize))
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for (_, outcome) in outcomes {
            state.update { if outcome == .confirmed { $0.confirmed += 1 } else { $0.returned += 1 } }
        }
        let now = state.value
        if now.confirmed + now.returned == now.published, !now.isEnding { publishBatch() }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {}

    /// Waits until this many more messages were confirmed.
    func wait(forMore count: UInt64) async -> Bool {
        let target = state.value.confirmed + count
        return await state.wait { $0.confirmed >= target }
    }

    /// Publishes no more.
    ///
    /// - Returns: how many messages were published, numbered from 0.
    func end() async -> UInt64 {
        state.update { $0.isEnding = true }
        _ = await state.wait { $0.confirmed + $0.returned == $0.published }
        _ = await publisher.close(deadlineSeconds: 60)
        return state.value.published
    }
}
