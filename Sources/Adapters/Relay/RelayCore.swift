import ChangeEvents
import DispatchCore
import Essentials
import EventLoop
import Messages
import Notifications
import StructuredLogging
import Synchronization

/// The work of a relay on its loop: one batch at a time is taken, published, and removed.
///
/// | the relay | means | can go on to |
/// |---|---|---|
/// | idle | no row is held | publishing, when rows were found; idle again after a wait |
/// | publishing | rows are held, or were let go because confirms take long | removing, when all publishes have ended |
/// | removing | RabbitMQ has the events, and PostgreSQL still has the rows | idle, when they are deleted |
final class RelayCore {
    /// How long one wait for rows may take, in milliseconds; the loop turns in between.
    private static let waitMilliseconds = 100
    /// How long to leave alone what has just failed, in nanoseconds.
    private static let pauseNanoseconds: UInt64 = 1_000_000_000
    /// How long rows are held while their confirms are awaited, in nanoseconds; a longer transaction keeps PostgreSQL
    /// from cleaning up.
    private static let holdNanoseconds: UInt64 = 10_000_000_000

    private let outbox: Outbox
    private let number: Int
    private let batchMaximum: Int
    private let exchange: String
    private let publisher: any MessagePublisher
    private var validator: EventValidator
    private let loop: EventLoop
    private let board: RelayBoard
    private let metrics: RelayMetrics
    private let logger: Logger

    private var batch: RelayBatch?
    private var range = LookRange()
    private var holdTimer: EventLoop.Timer?
    private var turnTimer: EventLoop.Timer?
    private var isPublisherReady = false
    /// Whether no more rows are taken.
    var isStopping = false

    init(
        _ outbox: Outbox, number: Int, batchMaximum: Int, exchange: String, publisher: any MessagePublisher,
        validator: EventValidator, loop: EventLoop, board: RelayBoard, metrics: RelayMetrics, logger: Logger
    ) {
        self.outbox = outbox
        self.number = number
        self.batchMaximum = batchMaximum
        self.exchange = exchange
        self.publisher = publisher
        self.validator = validator
        self.loop = loop
        self.board = board
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: Events

    func publisherChanged(isReady: Bool) {
        isPublisherReady = isReady
        if isReady { turnSoon() }
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        // A complete batch waits for PostgreSQL; the outcomes are another's.
        guard batch?.isComplete == false else { return }
        for (identifier, outcome) in outcomes { batch?.ended(identifier, outcome) }
        if batch?.isComplete == true { removeBatch() }
    }

    /// Lets everything go.
    ///
    /// - Returns: whether nothing was left to remove.
    func close() -> Bool {
        outbox.close()
        return batch == nil
    }

    // MARK: Turns

    /// Takes the next turn then, and at no other time.
    private func turnSoon(afterNanoseconds delay: UInt64 = 0) {
        if let turnTimer { loop.cancel(turnTimer) }
        turnTimer = loop.schedule(afterNanoseconds: delay) { [weak self] in
            self?.turnTimer = nil
            self?.turn()
        }
    }

    /// Takes the next rows, or waits for some.
    func turn() {
        guard !isStopping else { return }
        if let batch { return batch.isComplete ? removeBatch() : () }
        do throws(OutboxError) {
            guard isPublisherReady else {
                // Rows wait in their table, and how long is known.
                found(oldestWaitedMilliseconds: try outbox.oldestWaitedMilliseconds())
                return turnSoon(afterNanoseconds: Self.pauseNanoseconds)
            }
            let rows = try take()
            found(oldestWaitedMilliseconds: rows.first?.waitedMilliseconds)
            guard !rows.isEmpty else {
                try outbox.waitForRows(milliseconds: Self.waitMilliseconds)
                return turnSoon()
            }
            publish(rows)
        } catch {
            usable(error)
            turnSoon(afterNanoseconds: Self.pauseNanoseconds)
        }
    }

    private func take() throws(OutboxError) -> [OutboxRow] {
        let began = MonotonicClock.nowNanoseconds()
        let beginning = range.beginning(atNanoseconds: began)
        do throws(OutboxError) {
            let rows = try outbox.take(batchMaximum, from: beginning)
            let now = MonotonicClock.nowNanoseconds()
            range.looked(
                from: beginning, forNanoseconds: now &- began, until: now,
                finding: rows.first.flatMap { first in rows.last.map { (first.number, $0.number) } })
            return rows
        } catch {
            let now = MonotonicClock.nowNanoseconds()
            range.failed(forNanoseconds: now &- began, until: now)
            throw error
        }
    }

    private func found(oldestWaitedMilliseconds waited: Int64?) {
        usable(nil)
        let written = waited.map { WallClock.nowMilliseconds() - $0 }
        board.health.withLock { $0.oldestWrittenMilliseconds[number] = written }
    }

    private func publish(_ rows: [OutboxRow]) {
        var messages: [OutgoingMessage] = []
        var refused: [(number: Int64, reason: String)] = []
        for row in rows {
            do throws(EventRejection) { messages.append(try message(of: row)) } catch {
                refused.append((row.number, "\(error.reason.rawValue): \(error.message)"))
                logger.log(
                    .warning, "relay.refused",
                    [.field("row", Int(row.number)), .field("reason", error.reason.rawValue)])
            }
        }
        batch = RelayBatch(publishing: messages.map { Int64(truncatingIfNeeded: $0.identifier) }, refused: refused)
        guard !messages.isEmpty else { return removeBatch() }
        holdTimer = loop.schedule(afterNanoseconds: Self.holdNanoseconds) { [weak self] in
            self?.holdTimer = nil
            self?.outbox.release()
        }
        publisher.publish(messages)
    }

    private func message(of row: OutboxRow) throws(EventRejection) -> OutgoingMessage {
        var message = Message(body: row.event)
        message.properties.contentType = "application/cloudevents+json"
        // A relay that dies publishes its rows again.
        message.askToBeRemembered()
        let (event, publishable) = try validator.publishable(
            message, atMilliseconds: WallClock.nowMilliseconds() - row.waitedMilliseconds)
        return OutgoingMessage(
            identifier: UInt64(bitPattern: row.number), exchange: exchange, routingKey: event.routingKey,
            message: publishable)
    }

    /// Deletes the rows that RabbitMQ has; those of a batch that could not be deleted are tried again before any other.
    private func removeBatch() {
        guard let batch else { return }
        if let holdTimer { loop.cancel(holdTimer) }
        holdTimer = nil
        do throws(OutboxError) {
            try outbox.finish(published: batch.published, refused: batch.refused)
        } catch {
            usable(error)
            return turnSoon(afterNanoseconds: Self.pauseNanoseconds)
        }
        self.batch = nil
        metrics.ended(published: batch.published.count, refused: batch.refused.count)
        usable(nil)
        if let problem = batch.problem { logger.log(.warning, "relay.not_taken", [.field("reason", problem)]) }
        board.health.withLock { health in
            if isPublisherReady { health.brokerProblem = batch.problem }
        }
        turnSoon(afterNanoseconds: batch.problem == nil ? 0 : Self.pauseNanoseconds)
    }

    /// Tells whether the outbox can be used, once for each change.
    private func usable(_ error: OutboxError?) {
        let before = board.health.withLock { health in
            defer { health.outboxProblem = error?.message }
            return health.outboxProblem
        }
        guard before != error?.message else { return }
        if let error {
            // Only a person can mend what is unusable.
            let level: LogLevel = error.code == .unusable ? .error : .warning
            logger.log(level, "relay.outbox.failed", [.field("reason", error.message)])
        } else {
            logger.log(.info, "relay.outbox.ready", [.field("outbox", outbox.location)])
        }
    }
}
