import AMQP
public import Backoffice
import EventLoop
import Glibc
public import RegistryCore

/// Collects dead letters from their queue into the registry, replays and deletes them.
///
/// A quorum queue has no names for its messages, loses the order of returned ones, and shows each to one reader at a
/// time. So the letters are moved to a table of the registry. A letter is acknowledged after the registry has committed
/// it: after a crash in between it comes again, and is known by its identity. Replaying publishes a copy, waits for the
/// confirm, and only then removes the letter, so a crash in between duplicates and never loses.
///
/// All of it runs on a connection and a thread of its own. One process at a time collects; another waits for it, and
/// finds the letters that it has collected. The lock is one of the broker's, because it ends with the connection, as
/// the hold on letters does that were delivered and not acknowledged.
public struct DeadLetters: Sendable {
    /// How many deliveries may be unacknowledged at once.
    private static let prefetch: UInt16 = 500
    /// How long to wait for another process, and how long between two tries, in milliseconds.
    private static let lockMillisecondsMaximum: Int32 = 120_000
    private static let lockMilliseconds: Int32 = 250

    private let configuration: BrokerConfiguration
    private let openRegistry: @Sendable () throws(RegistryError) -> any DeadLetterRegistry
    private let progress: @Sendable (DeadLetterTally) -> Void
    private let isWaiting: @Sendable () -> Void

    /// Creates the tool.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is, and the namespace.
    ///   - openRegistry: opens the registry for writing; called on another thread, which then uses it.
    ///   - progress: receives the counts after each batch, on another thread.
    ///   - isWaiting: is called, on another thread, when another process has the letters.
    public init(
        configuration: BrokerConfiguration,
        openRegistry: @escaping @Sendable () throws(RegistryError) -> any DeadLetterRegistry,
        progress: @escaping @Sendable (DeadLetterTally) -> Void = { _ in },
        isWaiting: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.openRegistry = openRegistry
        self.progress = progress
        self.isWaiting = isWaiting
    }

    /// Moves everything that is in the queue into the registry.
    ///
    /// - Returns: the counts.
    /// - Throws: `ChangeQueueError`, `missing` if there is no queue of dead letters, or `RegistryError`. Letters that
    ///   were not committed are still in the queue.
    @discardableResult
    public func collect() async throws -> DeadLetterTally { try await run { _ in } }

    /// Collects, and puts letters back to work, with their attempts counted from the start.
    ///
    /// - Parameters:
    ///   - selection: which ones, and how many at most.
    ///   - isDryRun: only count.
    /// - Returns: the counts; a letter that could not be replayed is still there.
    /// - Throws: `ChangeQueueError` if the connection is lost; then some letters may be replayed and still be there. Or
    ///   `RegistryError`, `notFound` if a letter that was named is not there.
    public func replay(_ selection: DeadLetterSelection, isDryRun: Bool = false) async throws -> DeadLetterTally {
        try await run { run in
            try run.session.enableConfirms()
            try run.forEachBatch(selection) { letters in
                if isDryRun { return true }
                let messages = try run.registry.deadLetterMessages(letters.map(\.number))
                return try run.replay(
                    letters.compactMap { summary in
                        messages[summary.number].map { DeadLetter(summary: summary, message: $0) }
                    })
            }
        }
    }

    /// Collects, and deletes letters.
    ///
    /// - Parameters:
    ///   - selection: which ones, and how many at most.
    ///   - isDryRun: only count.
    /// - Returns: the counts.
    /// - Throws: `ChangeQueueError` if not everything could be collected, and then nothing is deleted; `RegistryError`,
    ///   `notFound` if a named letter does not exist.
    public func purge(_ selection: DeadLetterSelection, isDryRun: Bool = false) async throws -> DeadLetterTally {
        try await run { run in
            try run.forEachBatch(selection) { letters in
                if !isDryRun { run.tally.doneCount += try run.registry.removeDeadLetters(letters.map(\.number)) }
                return true
            }
        }
    }

    /// Waits until no other process has the letters.
    private func lock(_ session: AMQPSession) throws(AMQPError) {
        var waitedMilliseconds: Int32 = 0
        do throws(AMQPError) {
            while try !session.lock(configuration.names.deadLetterLock) {
                if waitedMilliseconds == 0 { isWaiting() }
                guard waitedMilliseconds < Self.lockMillisecondsMaximum else {
                    throw AMQPError(
                        .locked,
                        "another 'apus dead-letters' has worked with the letters for \(waitedMilliseconds / 1_000) s; "
                            + "try again when it has ended")
                }
                poll(nil, 0, Self.lockMilliseconds)
                waitedMilliseconds += Self.lockMilliseconds
            }
        } catch  where error.code == .refused {
            // A user that may not make the lock goes without: two at once lose nothing, and see less of each other.
        }
    }

    private func run(_ body: @escaping @Sendable (DeadLetterRun) throws -> Void) async throws -> DeadLetterTally {
        do {
            // A loop rather than any thread: it has the stack that librabbitmq may need.
            let loop = try EventLoop(name: "dead-letters")
            defer { loop.stopAndJoin() }
            return try await loop.run {
                let registry = try openRegistry()
                let session = try configuration.open(purpose: "dead-letters", takesLongHeaders: true)
                defer { session.close() }
                try lock(session)
                let run = DeadLetterRun(
                    session: session, registry: registry, names: configuration.names, progress: progress)
                try run.collect(prefetch: Self.prefetch)
                try body(run)
                return run.tally
            }
        } catch let error as AMQPError { throw ChangeQueueError(error) } catch let error as EventLoopError {
            throw ChangeQueueError(.unavailable, "\(error)")
        }
    }
}
