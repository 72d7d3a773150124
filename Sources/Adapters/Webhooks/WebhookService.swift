public import ChangeEvents
import Essentials
import EventLoop
import HTTPClient
public import Metrics
public import StructuredLogging
import Synchronization

/// Posts outcomes to the backends of apps, on a thread of its own.
///
/// Each app has a queue, a client and a machine of its own, so a failing backend does not delay the others. A delivery
/// is acknowledged when the backend has taken it, or when RabbitMQ has confirmed its copy in a retry queue.
public final class WebhookService: Sendable {
    /// How long the last publishes and acknowledgements may take at the end, in seconds.
    private static let closeSeconds = 5.0

    private let source: any OutcomeSource
    private let publisher: any MessagePublisher
    private let senders: LoopBound<[WebhookSender]>
    private let board: WebhookHealthBoard
    private let isStopped = Mutex(false)

    /// Prepares everything; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - endpoints: the backends of the apps.
    ///   - source: has a queue for each endpoint, in the same order.
    ///   - publisher: publishes copies for retries.
    ///   - retryQueue: names the retry queue of an app and a delay.
    ///   - userAgent: the program and its version, as backends may log them.
    ///   - metrics: where the instruments are registered.
    ///   - logger: logs what becomes of endpoints, and never a secret.
    /// - Throws: `EventLoopError` or `HTTPClient.Failure` if there is no thread or no libcurl.
    public init(
        _ endpoints: [WebhookEndpoint], source: any OutcomeSource, publisher: any MessagePublisher,
        retryQueue: @escaping @Sendable (_ app: String, _ delayMilliseconds: Int64) -> String, userAgent: String,
        metrics: MetricsRegistry, logger: Logger
    ) throws {
        board = WebhookHealthBoard(apps: endpoints.map(\.app))
        self.source = source
        self.publisher = publisher
        let loop = try EventLoop(name: "webhooks")
        do {
            let shared = WebhookSender.Shared(
                loop: loop, source: source, publisher: publisher, retryQueue: retryQueue, health: board,
                logger: logger, userAgent: userAgent)
            let senders = try endpoints.enumerated().map { index, endpoint in
                try WebhookSender(
                    endpoint, index: index, shared: shared, metrics: WebhookMetrics(metrics, app: endpoint.app))
            }
            self.senders = LoopBound(senders, to: loop)
        } catch {
            loop.stopAndJoin()
            throw error
        }
    }

    /// How long ago the loop last turned, in nanoseconds.
    public func nanosecondsSinceLastTick() -> UInt64 { senders.loop.nanosecondsSinceLastTick() }

    /// The current problems.
    public var health: WebhookHealth { board.health }

    /// Connects to the broker and begins to post.
    public func start() {
        publisher.start(handler: WebhookPublishHandler(senders, board))
        source.start { [senders, board] event in
            switch event {
            case .received(let deliveries, let index):
                senders.loop.submit { senders.value[index].received(deliveries) }
            case .changed(let state, let index):
                board.changed(state, endpoint: index)
                guard case .consuming(let epoch) = state else { return }
                senders.loop.submit { senders.value[index].consumptionBegan(epoch: epoch) }
            }
        }
    }

    /// Posts nothing more, waits for the answers and the confirms of copies, acknowledges, and ends.
    ///
    /// A second call does nothing.
    ///
    /// - Parameter seconds: how long to wait for answers.
    /// - Returns: whether everything that was begun was finished in time; the rest is delivered again.
    @discardableResult
    public func stop(withinSeconds seconds: Double) async -> Bool {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return true }
        let isComplete = await withTaskGroup(of: Bool.self) { stops in
            for index in board.health.endpoints.indices {
                stops.addTask { await self.stopSender(index, withinSeconds: seconds) }
            }
            return await stops.reduce(true) { $0 && $1 }
        }
        await source.close()
        let isConfirmed = await publisher.close(deadlineSeconds: Self.closeSeconds)
        senders.loop.stopAndJoin()
        return isComplete && isConfirmed
    }

    private func stopSender(_ index: Int, withinSeconds seconds: Double) async -> Bool {
        await withCheckedContinuation { continuation in
            senders.loop.submit { [senders] in
                senders.value[index].stop(withinSeconds: seconds) { continuation.resume(returning: $0) }
            }
        }
    }
}

/// Passes the results of publishes to the senders.
private final class WebhookPublishHandler: PublishHandler {
    private let senders: LoopBound<[WebhookSender]>
    private let board: WebhookHealthBoard

    init(_ senders: LoopBound<[WebhookSender]>, _ board: WebhookHealthBoard) {
        self.senders = senders
        self.board = board
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        senders.loop.submit { [senders] in
            for (identifier, outcome) in outcomes {
                senders.value[WebhookSender.index(ofPublish: identifier)].publishEnded(identifier, outcome)
            }
        }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        board.publisherChanged(isReady: isReady, reason: reason)
    }
}
