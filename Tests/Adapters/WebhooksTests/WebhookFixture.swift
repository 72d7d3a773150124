import ChangeEvents
import ChangeQueue
import Crypto
import Essentials
import EventLoop
import Glibc
import HTTPClient
import HTTPServer
import Messages
import Metrics
import PushTestKit
import StructuredLogging
import Testing
import Webhooks

/// The queues of some apps in a real broker, a backend with TLS, and services between them.
struct WebhookFixture {
    /// A request that the backend got.
    struct Request: Sendable {
        var path: String
        var identifier: String
        var timestamp: String
        var signature: String
        var body: [UInt8]

        /// The path and the identifier.
        var summary: String { "\(path) \(identifier)" }
    }

    /// The state of the backend: its requests, its answers, and the requests that it leaves without an answer.
    struct Backend: Sendable {
        var requests: [Request] = []
        /// The next answers of a path; 204 when there are none.
        var answers: [String: [Int]] = [:]
        /// The paths whose requests are held.
        var heldPaths: Set<String> = []
        /// How many requests are held at most.
        var holdMaximum = Int.max
        var held: [HTTPResponder] = []
        var heldMaximum = 0
    }

    private struct Handler: HTTPHandler {
        let backend: Watched<Backend>

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            let path = request.target.rawPath
            let (isHeld, status) = backend.update { backend in
                backend.requests.append(
                    Request(
                        path: path, identifier: request.field("webhook-id") ?? "",
                        timestamp: request.field("webhook-timestamp") ?? "",
                        signature: request.field("webhook-signature") ?? "", body: request.body))
                var answers = backend.answers[path] ?? []
                let status = answers.isEmpty ? 204 : answers.removeFirst()
                backend.answers[path] = answers
                let isHeld = backend.heldPaths.contains(path) && backend.holdMaximum > 0
                if isHeld { backend.holdMaximum -= 1 }
                return (isHeld, status)
            }
            guard isHeld else { return .now(HTTPResponse(status: status)) }
            return .held { [backend] responder in
                backend.update { backend in
                    backend.held.append(responder)
                    backend.heldMaximum = max(backend.heldMaximum, backend.held.count)
                }
            }
        }
    }

    static let secretText = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let broker: PrivateRabbitMQ
    let configuration: BrokerConfiguration
    let topology: Topology
    let backend = Watched(Backend())
    let server: HTTPServer
    let folder: TemporaryFolder
    let log = LogCollector()
    let metrics = MetricsRegistry()
    private let caFile: String

    /// Starts the backend, and makes the queues of apps.
    init(apps: [String]) async throws {
        broker = try await PrivateRabbitMQ.shared()
        let namespace = PrivateRabbitMQ.makeNamespace()
        configuration = try BrokerConfiguration(
            urls: [broker.url], namespace: namespace, prefetch: 16, connectionName: namespace)
        topology = Topology(
            namespace: namespace, retryDelaysMilliseconds: [], publishesOutcomes: true,
            webhooks: apps.map { WebhookQueue(app: $0) })
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        var options = HTTPServerConfiguration(
            name: "the backend", settingName: "test.listen", host: "127.0.0.1", port: 0, identity: identity)
        options.idleSecondsMaximum = 300
        server = try HTTPServer(configuration: options, handler: Handler(backend: backend))
        folder = try TemporaryFolder()
        caFile = try folder.write("ca.pem", identity.certificateChainPEM)
        _ = try await topology.apply(to: configuration)
    }

    var names: QueueNames { configuration.names }

    /// Where the outcomes of an app go: a path of its own, whose requests are waited for as long as a test may take.
    func endpoint(_ app: String, port: UInt16? = nil) throws -> WebhookEndpoint {
        var address = try #require(PostAddress("https://localhost:\(port ?? server.port)/\(app)"))
        address.destination.caFile = caFile
        let secret = try #require(WebhookSecret(Self.secretText))
        return WebhookEndpoint(
            app: app, address: address, secrets: [secret], timeoutNanoseconds: 600_000_000_000)
    }

    /// Starts a service for some endpoints.
    func start(_ endpoints: [WebhookEndpoint]) throws -> WebhookService {
        let metrics = metrics.makePart()
        let names = names
        let source = try OutcomeConsumer(
            endpoints.map { .durable(name: names.webhook(app: $0.app), prefetch: 16) },
            configuration: configuration, connection: "webhooks", logger: log.logger, metrics: metrics)
        let publisher = try ConfirmedPublisher(configuration: configuration, logger: log.logger, metrics: metrics)
        let service = try WebhookService(
            endpoints, source: source, publisher: publisher, retryQueue: names.webhookRetry(app:delayMilliseconds:),
            userAgent: "apus/test", metrics: metrics, logger: log.logger)
        service.start()
        return service
    }

    /// Waits until nothing keeps the service from posting: its publisher may connect after its first delivery.
    func waitUntilWell(_ service: WebhookService) async throws {
        try await eventually("the service to be well", equals: nil) { service.health.problem }
    }

    /// Publishes outcomes as a worker does, one for each identifier.
    func publish(_ identifiers: [String], app: String) async throws {
        let messages = identifiers.enumerated().map { index, identifier in
            var message = Message(
                body: Array(#"{"outcome":"accepted","app":"\#(app)","event":{"id":"\#(identifier)"}}"#.utf8))
            message.properties.messageID = identifier
            message.properties.timestampSeconds = UInt64(WallClock.nowMilliseconds() / 1_000)
            return OutgoingMessage(
                identifier: UInt64(index), exchange: names.outcomes,
                routingKey: "accepted.push.requested.\(app)", message: message)
        }
        let publisher = try ConfirmedPublisher(
            configuration: configuration, logger: .silent, metrics: MetricsRegistry())
        let ends = PublishEnds()
        publisher.start(handler: ends)
        publisher.publish(messages)
        _ = await publisher.close(deadlineSeconds: 60)
        try #require(ends.outcomes.value == messages.map { _ in .confirmed }, "\(ends.outcomes.value)")
    }

    /// Waits until the backend has got so many requests at a path.
    func wait(for count: Int, at path: String) async throws {
        try #require(
            await backend.wait { $0.requests.count { $0.path == path } >= count }, "\(log.lines.value)")
    }

    /// The requests at a path.
    func requests(at path: String) -> [Request] { backend.value.requests.filter { $0.path == path } }

    /// Waits until a queue holds so many messages.
    func waitForMessages(_ count: Int, in queue: String) async throws {
        try await eventually("the messages of \(queue)", equals: count) {
            try await broker.messageCount(queue: queue)
        }
    }

    /// Answers what is held, and holds nothing more.
    func release() {
        let held = backend.update { backend in
            backend.heldPaths = []
            defer { backend.held = [] }
            return backend.held
        }
        for responder in held { responder.respond(HTTPResponse(status: 204)) }
    }

    /// Ends the backend, after the services.
    func end() {
        release()
        server.stop()
    }
}

/// How publishes ended, in order.
private final class PublishEnds: PublishHandler {
    let outcomes = Watched<[PublishOutcome]>([])

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        self.outcomes.update { $0 += outcomes.map(\.outcome) }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {}
}
