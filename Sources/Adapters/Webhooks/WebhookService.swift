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
    /// One app: where its outcomes come from, and where they go.
    public struct Route: Sendable {
        /// Where they go.
        public var endpoint: WebhookEndpoint
        /// Where they come from.
        public var source: any MessageSource
        /// The name of the retry queue of a delay in milliseconds.
        public var retryQueue: @Sendable (_ delayMilliseconds: Int64) -> String

        /// Describes a route.
        public init(
            endpoint: WebhookEndpoint, source: any MessageSource,
            retryQueue: @escaping @Sendable (_ delayMilliseconds: Int64) -> String
        ) {
            self.endpoint = endpoint
            self.source = source
            self.retryQueue = retryQueue
        }
    }

    /// How long the last publishes and acknowledgements may take at the end, in seconds.
    private static let closeSeconds = 5.0

    private let loop: EventLoop
    private let parts: LoopBound<WebhookParts>
    private let sources: [WebhookSource]
    private let publisher: any MessagePublisher
    private let board: WebhookHealthBoard
    private let isStopped = Mutex(false)

    /// Prepares everything; nothing is consumed before `start`.
    ///
    /// - Parameters:
    ///   - routes: the apps.
    ///   - publisher: publishes copies for retries.
    ///   - userAgent: the program and its version, as backends may log them.
    ///   - metrics: where the instruments are registered.
    ///   - logger: hears what becomes of endpoints, and never a secret.
    /// - Throws: `EventLoopError` or `HTTPClient.Failure` if there is no thread or no libcurl.
    public init(
        _ routes: [Route], publisher: any MessagePublisher, userAgent: String, metrics: MetricsRegistry, logger: Logger
    ) throws {
        let board = WebhookHealthBoard(apps: routes.map(\.endpoint.app))
        let sources = routes.map { WebhookSource($0.source) }
        let loop = try EventLoop(name: "webhooks")
        do {
            let parts = try WebhookParts(
                Array(zip(routes, sources)), publisher: publisher, userAgent: userAgent, metrics: metrics,
                logger: logger, board: board,
                loop: loop)
            self.parts = LoopBound(parts, to: loop)
        } catch {
            loop.stopAndJoin()
            throw error
        }
        self.loop = loop
        self.board = board
        self.publisher = publisher
        self.sources = sources
    }

    /// How long ago the loop last turned, in nanoseconds.
    public func nanosecondsSinceLastTick() -> UInt64 { loop.nanosecondsSinceLastTick() }

    /// The current problems.
    public var health: WebhookHealth { board.health }

    /// Connects to the broker and begins to post.
    public func start() {
        publisher.start(handler: WebhookPublishInbox(parts, board))
        for (index, source) in sources.enumerated() {
            source.start(handler: WebhookDeliveryInbox(parts, board, index: index))
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
        let isComplete = await withCheckedContinuation { continuation in
            loop.submit { [parts] in
                parts.value.stop(withinSeconds: seconds) { continuation.resume(returning: $0) }
            }
        }
        for source in sources { await source.close() }
        let isConfirmed = await publisher.close(deadlineSeconds: Self.closeSeconds)
        loop.stopAndJoin()
        return isComplete && isConfirmed
    }
}
