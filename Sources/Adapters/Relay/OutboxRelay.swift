public import ChangeEvents
public import DispatchCore
import EventLoop
public import Metrics
public import StructuredLogging
import Synchronization

/// Moves the committed rows of an outbox to RabbitMQ: publishes with confirms, then deletes, in one transaction.
///
/// A row is deleted when RabbitMQ has confirmed its event, so a relay that dies in between publishes it again. While
/// RabbitMQ takes nothing, rows wait in their table.
///
/// Two batches take turns, each with a loop and a session of its own: one waits for PostgreSQL while the other waits
/// for RabbitMQ. They hold different keys, as two relays do.
public final class OutboxRelay: Sendable {
    private static let batchesAtOnce = 2

    private let publisher: any MessagePublisher
    private let cores: [LoopBound<RelayCore>]
    private let board = RelayBoard(batchesAtOnce: batchesAtOnce)

    /// Prepares everything; nothing is moved before `start`.
    ///
    /// - Parameters:
    ///   - url: the outbox: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`.
    ///   - batch: the most rows of one transaction.
    ///   - exchange: where events are published.
    ///   - publisher: publishes them.
    ///   - apps: the apps that the workers have, to check events; without any, an event's app is not looked at.
    ///   - metrics: where the instruments are registered.
    ///   - logger: logs what becomes of the outbox, and never its password.
    /// - Throws: `OutboxError` if the URL cannot be read, `EventLoopError` if there is no thread.
    public init(
        url: String, batch: Int, exchange: String, publisher: any MessagePublisher,
        apps: [PipelineConfiguration.App], metrics: MetricsRegistry, logger: Logger
    ) throws {
        self.publisher = publisher
        let (board, instruments) = (board, RelayMetrics(metrics, board))
        cores = try (0..<Self.batchesAtOnce).map { number in
            let outbox = try Outbox(url: url)
            let loop = try EventLoop(name: "relay-\(number)")
            return LoopBound(
                RelayCore(
                    outbox, number: number, batchMaximum: batch, exchange: exchange, publisher: publisher,
                    validator: EventValidator(apps: apps), loop: loop, board: board, metrics: instruments,
                    logger: logger), to: loop)
        }
    }

    /// Connects to both sides and begins to move rows.
    public func start() {
        publisher.start(handler: RelayPublishHandler(cores, board))
        for core in cores { core.loop.submit { core.value.turn() } }
    }

    /// Takes no more rows, waits for the confirms of those under way, and ends.
    ///
    /// - Parameter seconds: how long to wait.
    /// - Returns: whether all that was published is deleted; the rest is published again.
    public func stop(withinSeconds seconds: Double) async -> Bool {
        for core in cores { core.loop.submit { core.value.isStopping = true } }
        var isComplete = await publisher.close(deadlineSeconds: seconds)
        for core in cores {
            let isEmpty = await withCheckedContinuation { continuation in
                // Behind the outcomes, which the publisher passed on before it closed.
                core.loop.submit { continuation.resume(returning: core.value.close()) }
            }
            core.loop.stopAndJoin()
            isComplete = isComplete && isEmpty
        }
        return isComplete
    }

    /// Looks at an outbox as a relay would use it, and moves nothing.
    ///
    /// - Parameter url: the outbox.
    /// - Returns: where it is, and how long its oldest row has waited, in milliseconds; nil if it has none.
    /// - Throws: `OutboxError` if it cannot be reached, is not as 'apus relay sql' makes it, or lacks a right.
    public static func probe(
        url: String
    ) throws(OutboxError) -> (location: String, waitedMilliseconds: Int64?) {
        let outbox = try Outbox(url: url)
        defer { outbox.close() }
        try outbox.requireRights()
        return (outbox.location, try outbox.oldestWaitedMilliseconds())
    }

    /// How long ago each loop last turned, in nanoseconds, at most; calls of PostgreSQL may take it some seconds.
    public func nanosecondsSinceLastTick() -> UInt64 {
        cores.map { $0.loop.nanosecondsSinceLastTick() }.max() ?? 0
    }

    /// The present problems.
    public var health: RelayHealth { board.health.withLock { $0 } }
}

/// The problems that keep rows from being moved.
public struct RelayHealth: Hashable, Sendable {
    /// Why the outbox cannot be used; nil if it can.
    public var outboxProblem: String? = "not connected yet"
    /// Why RabbitMQ takes no events; nil if it does.
    public var brokerProblem: String? = "not connected yet"
    /// When the oldest row was written that each batch found last, in milliseconds since 1970; nil if it found none.
    var oldestWrittenMilliseconds: [Int64?]

    /// When the oldest row was written that was not known to be with RabbitMQ; nil if there was none.
    var oldestWrittenMillisecondsOfAll: Int64? { oldestWrittenMilliseconds.compactMap(\.self).min() }
}

/// The health as every thread may read it.
final class RelayBoard: Sendable {
    let health: Mutex<RelayHealth>

    init(batchesAtOnce: Int) {
        health = Mutex(RelayHealth(oldestWrittenMilliseconds: Array(repeating: nil, count: batchesAtOnce)))
    }
}

/// Passes the outcomes of publishes to the relay's loops, each of which knows the rows of its batch.
private final class RelayPublishHandler: PublishHandler {
    private let cores: [LoopBound<RelayCore>]
    private let board: RelayBoard

    init(_ cores: [LoopBound<RelayCore>], _ board: RelayBoard) {
        self.cores = cores
        self.board = board
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for core in cores { core.loop.submit { core.value.publishesEnded(outcomes) } }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        board.health.withLock { $0.brokerProblem = isReady ? nil : reason }
        for core in cores { core.loop.submit { core.value.publisherChanged(isReady: isReady) } }
    }
}
