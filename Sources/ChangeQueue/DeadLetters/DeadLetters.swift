import AMQP
import PushCore

/// Reads, replays and deletes dead letters.
///
/// Reading takes messages without acknowledging them and then gives them back; nothing is consumed, even if it is
/// interrupted. Replaying publishes a copy, waits for the confirm, and only then acknowledges the original, so a
/// crash in between duplicates and never loses. All of it runs on a connection and a thread of its own.
public struct DeadLetters: Sendable {
    /// How many letters are replayed with one wait for confirms.
    private static let batchSize = 100
    /// How many letters are given back, or deleted, before the queue is waited for.
    ///
    /// When more than 32 are under way, RabbitMQ puts them back in a random order.
    private static let unsynchronizedMaximum = 12

    private let configuration: BrokerConfiguration
    private let progress: @Sendable (DeadLetterTally) -> Void

    /// Creates the tool.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is, and the namespace.
    ///   - progress: is told how far it has come, from another thread, about every hundred letters.
    public init(
        configuration: BrokerConfiguration, progress: @escaping @Sendable (DeadLetterTally) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.progress = progress
    }

    /// Lists letters without their bodies.
    ///
    /// - Parameter selection: which ones, and how many at most.
    /// - Returns: the letters, oldest first.
    /// - Throws: `ChangeQueueError`, `missing` if there is no queue of dead letters.
    public func list(_ selection: DeadLetterSelection) async throws(ChangeQueueError) -> [DeadLetter] {
        try await read(selection, withBody: false)
    }

    /// Reads letters whole.
    ///
    /// - Parameter selection: which ones, and how many at most; all are held in memory at once.
    /// - Returns: the letters, oldest first.
    /// - Throws: `ChangeQueueError`, `missing` if there is no queue of dead letters.
    public func show(_ selection: DeadLetterSelection) async throws(ChangeQueueError) -> [DeadLetter] {
        try await read(selection, withBody: true)
    }

    /// Puts letters back to work, with their attempts counted from the start.
    ///
    /// - Parameters:
    ///   - selection: which ones, and how many at most.
    ///   - isDryRun: only count.
    /// - Returns: what was done; what could not be replayed is still a dead letter.
    /// - Throws: `ChangeQueueError` if the connection is lost; then some letters may be replayed and still be there.
    public func replay(
        _ selection: DeadLetterSelection, isDryRun: Bool = false
    ) async throws(ChangeQueueError) -> DeadLetterTally {
        try await configuration.withSession(purpose: "dead-letters") { session in
            try session.enableConfirms()
            var tally = DeadLetterTally()
            var batch: [(number: UInt64, letter: DeadLetter)] = []
            var finished: Set<UInt64> = []
            let held = try walk(session, selection, withBody: true, &tally) { number, letter, tally throws(AMQPError) in
                guard !isDryRun else { return true }
                batch.append((number, letter))
                guard batch.count == Self.batchSize else { return true }
                try replay(&batch, session, &tally, &finished)
                return tally.failure == nil
            }
            try replay(&batch, session, &tally, &finished)
            try giveBack(held.filter { !finished.contains($0) }, session)
            progress(tally)
            return tally
        }
    }

    /// Deletes letters.
    ///
    /// - Parameters:
    ///   - selection: which ones, and how many at most.
    ///   - isDryRun: only count.
    /// - Returns: what was done.
    /// - Throws: `ChangeQueueError` if the connection is lost; then some letters may be deleted.
    public func purge(
        _ selection: DeadLetterSelection, isDryRun: Bool = false
    ) async throws(ChangeQueueError) -> DeadLetterTally {
        let queue = configuration.names.deadLetter
        return try await configuration.withSession(purpose: "dead-letters") { session in
            var tally = DeadLetterTally()
            if selection.isEverything, !isDryRun {
                // Asked first, because it says what to do if there is no such queue.
                _ = try messageCount(queue, session)
                let count = try session.purgeQueue(queue)
                (tally.queuedCount, tally.selectedCount, tally.doneCount) = (count, count, count)
                return tally
            }
            var deleted: Set<UInt64> = []
            let held = try walk(session, selection, withBody: false, &tally) { number, _, tally throws(AMQPError) in
                guard !isDryRun else { return true }
                try session.acknowledge(number, isMultiple: false)
                deleted.insert(number)
                tally.doneCount += 1
                return true
            }
            try giveBack(held.filter { !deleted.contains($0) }, session)
            progress(tally)
            return tally
        }
    }

    // MARK: Walking through the queue

    private func messageCount(_ queue: String, _ session: AMQPSession) throws(AMQPError) -> Int {
        do throws(AMQPError) {
            return try session.declareQueue(queue, isPassive: true).messageCount
        } catch  where error.code == .missing {
            throw AMQPError(.missing, "\(queue) is missing at \(session.endpoint); run `apus topology apply`")
        }
    }

    private func read(
        _ selection: DeadLetterSelection, withBody: Bool
    ) async throws(ChangeQueueError) -> [DeadLetter] {
        try await configuration.withSession(purpose: "dead-letters") { session in
            var letters: [DeadLetter] = []
            var tally = DeadLetterTally()
            let held = try walk(session, selection, withBody: withBody, &tally) { _, letter, _ throws(AMQPError) in
                letters.append(letter)
                return true
            }
            try giveBack(held, session)
            return letters
        }
    }

    /// Takes letter after letter, unacknowledged, as many as there were at the beginning, and says what it took.
    private func walk(
        _ session: AMQPSession, _ selection: DeadLetterSelection, withBody: Bool, _ tally: inout DeadLetterTally,
        _ visit: (UInt64, DeadLetter, inout DeadLetterTally) throws(AMQPError) -> Bool
    ) throws(AMQPError) -> [UInt64] {
        let queue = configuration.names.deadLetter
        var held: [UInt64] = []
        tally.queuedCount = try messageCount(queue, session)
        while tally.examinedCount < tally.queuedCount, selection.limit.map({ tally.selectedCount < $0 }) ?? true {
            guard let (delivery, _) = try session.get(queue) else { return held }
            tally.examinedCount += 1
            let number = delivery.number
            held.append(number)
            let letter = DeadLetter(
                position: tally.examinedCount, exchange: delivery.exchange, message: Message(delivery),
                withBody: withBody)
            if selection.includes(letter) {
                tally.selectedCount += 1
                guard try visit(number, letter, &tally) else { return held }
            }
            if tally.examinedCount.isMultiple(of: 100) { progress(tally) }
            if let position = selection.position, tally.examinedCount >= position { return held }
        }
        return held
    }

    /// Puts letters back where they were, in their order, and waits until the queue has forgotten those that are done.
    private func giveBack(_ held: [UInt64], _ session: AMQPSession) throws(AMQPError) {
        let queue = configuration.names.deadLetter
        try session.synchronize(with: queue)
        for (index, number) in held.enumerated() {
            try session.giveBack(number, isMultiple: false)
            if (index + 1).isMultiple(of: Self.unsynchronizedMaximum) { try session.synchronize(with: queue) }
        }
        try session.synchronize(with: queue)
    }

    // MARK: Replaying

    private func replay(
        _ batch: inout [(number: UInt64, letter: DeadLetter)], _ session: AMQPSession, _ tally: inout DeadLetterTally,
        _ finished: inout Set<UInt64>
    ) throws(AMQPError) {
        guard !batch.isEmpty, tally.failure == nil else { return }
        let copies = batch.map { $0.letter.message.replayed(publishedTo: $0.letter.exchange) }
        let user = session.endpoint.user
        let failures = try session.publishConfirmed(
            copies.map { (AMQPMessage(publishing: $0, user: user), "", target(of: $0)) })
        for ((item, copy), failure) in zip(zip(batch, copies), failures) {
            guard let failure else {
                try session.acknowledge(item.number, isMultiple: false)
                finished.insert(item.number)
                tally.doneCount += 1
                continue
            }
            tally.failure = "\(target(of: copy)) did not take a letter: \(failure)"
        }
        batch = []
    }

    /// The rest of a large fan-out goes back to its own lane.
    private func target(of message: Message) -> String {
        message.header(ParkingHeader.cursor) == nil ? configuration.names.work : configuration.names.fanout
    }
}
