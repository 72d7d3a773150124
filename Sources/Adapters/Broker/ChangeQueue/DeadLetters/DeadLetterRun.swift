import AMQP
import Backoffice
import Crypto
import EventLoop
import Messages
import RegistryCore

/// One use of the dead letters: a connection to the broker, a registry, and the counts so far.
///
/// Belongs to one thread.
final class DeadLetterRun {
    let session: AMQPSession
    let registry: any DeadLetterRegistry
    var tally = DeadLetterTally()
    private let names: QueueNames
    private let reader = DeadLetterReader { SHA256Digest.digest($0) }
    private let progress: (DeadLetterTally) -> Void

    init(
        session: AMQPSession, registry: any DeadLetterRegistry, names: QueueNames,
        progress: @escaping (DeadLetterTally) -> Void
    ) {
        self.session = session
        self.registry = registry
        self.names = names
        self.progress = progress
    }

    /// Moves everything that is in the queue into the registry, batch by batch.
    func collect(prefetch: UInt16) throws {
        do {
            try session.drain(names.deadLetter, prefetch: prefetch) { deliveries in
                let now = WallClock.nowMilliseconds()
                _ = try registry.addDeadLetters(
                    deliveries.map { reader.read(Message($0), publishedTo: $0.exchange, nowMilliseconds: now) })
                tally.collectedCount += deliveries.count
                progress(tally)
            }
        } catch let error as AMQPError where error.code == .missing {
            throw AMQPError(
                .missing, "\(names.deadLetter) is missing at \(session.endpoint); run `apus topology apply`")
        }
    }

    /// Goes through the selected letters, so many at a time that their bodies can be held.
    ///
    /// - Parameters:
    ///   - selection: which letters.
    ///   - body: does something with them, and says whether to go on.
    /// - Throws: `RegistryError`, or what `body` throws.
    func forEachBatch(_ selection: DeadLetterSelection, _ body: ([DeadLetterSummary]) throws -> Bool) throws {
        try selection.forEachPage(in: registry) { page in
            for batch in DeadLetterSummary.batches(page) {
                tally.selectedCount += batch.count
                guard try body(Array(batch)) else { return false }
                progress(tally)
            }
            return true
        }
    }

    /// Publishes letters, and removes those that the broker has confirmed.
    ///
    /// A letter that the broker never takes, for example because its limit is lower now, stays a dead letter; the
    /// others are published all the same.
    ///
    /// - Returns: whether to go on; if not, `tally.failure` says why.
    func replay(_ letters: [DeadLetter]) throws -> Bool {
        let failures = try session.publishConfirmed(
            letters.map { letter in
                (
                    message: Message(publishing: letter.replay, user: session.endpoint.user), exchange: "",
                    routingKey: queue(of: letter)
                )
            })
        let confirmed = zip(letters, failures).filter { $0.1 == nil }.map(\.0.summary.number)
        if !confirmed.isEmpty { _ = try registry.removeDeadLetters(confirmed) }
        tally.doneCount += confirmed.count
        for case (let letter, let failure?) in zip(letters, failures) {
            let text = "\(queue(of: letter)) did not take the letter \(letter.summary.shortIdentifier): \(failure.text)"
            if failure.isForGood {
                tally.refusedCount += 1
                tally.refusal = tally.refusal ?? text
            } else {
                tally.failure = tally.failure ?? text
            }
        }
        return tally.failure == nil
    }

    /// The rest of a large fan-out goes back to the fan-out queue.
    private func queue(of letter: DeadLetter) -> String { letter.isBulk ? names.fanout : names.work }
}

/// The counts of the work on dead letters so far.
public struct DeadLetterTally: Hashable, Sendable {
    /// How many were taken from the queue, those included that the registry had already.
    public var collectedCount = 0
    /// How many were meant.
    public var selectedCount = 0
    /// How many were replayed or deleted.
    public var doneCount = 0
    /// How many the broker will never take as they are; they are still dead letters.
    public var refusedCount = 0
    /// Why it does not take the first of those.
    public var refusal: String?
    /// Why the work ended before all was done; nil if it did not.
    public var failure: String?

    /// Creates an empty tally.
    public init() {}
}
