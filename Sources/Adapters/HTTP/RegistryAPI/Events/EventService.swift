import ChangeEvents
import EventLoop
import HTTPServer
import Metrics
import RegistryCore
import StructuredLogging

/// The part of a server that takes events: a desk on a loop of its own, and the publisher's answers to it.
final class EventService: Sendable {
    /// How many events a second each token may publish for long.
    let eventsPerSecondMaximum: Int
    /// Knows which events the registry remembers; nil if it remembers none.
    let memory: (any EventMemoryFollower)?
    private let desk: LoopBound<EventDesk>
    private let handler: EventPublishHandler
    private let publisher: any MessagePublisher

    /// Prepares everything; RabbitMQ is not connected to before `start`.
    init(
        _ publishing: EventPublishing, apps: [RegistryAPIApp], credentials: CredentialGuard, metrics: MetricsRegistry,
        logger: Logger, nowMilliseconds: @escaping @Sendable () -> Int64
    ) throws(EventLoopError) {
        eventsPerSecondMaximum = publishing.eventsPerSecondMaximum
        memory = publishing.memory
        let loop = try EventLoop(name: "registry-events")
        desk = LoopBound(
            EventDesk(
                publishing, apps: apps, credentials: credentials, loop: loop, metrics: EventMetrics(metrics),
                logger: logger, nowMilliseconds: nowMilliseconds), to: loop)
        handler = EventPublishHandler(desk)
        publisher = publishing.publisher
    }

    /// Begins to connect to RabbitMQ.
    func start() { publisher.start(handler: handler) }

    /// Takes a request of a token that may publish; from any thread.
    func take(_ request: HTTPRequest, of token: APIToken, _ suspended: SuspendedRequest) {
        desk.loop.submit { [desk, handler] in
            desk.value.take(request, token, suspended, whileReady: handler.problem == nil)
        }
    }

    /// Why RabbitMQ takes no events; nil if it does.
    var problem: String? { handler.problem }

    /// How long ago the loop last turned, in nanoseconds.
    func nanosecondsSinceLastTick() -> UInt64 { desk.loop.nanosecondsSinceLastTick() }

    /// Ends the loop, when no request waits any more; what RabbitMQ says later is not heard.
    func stop() { desk.loop.stopAndJoin() }
}
