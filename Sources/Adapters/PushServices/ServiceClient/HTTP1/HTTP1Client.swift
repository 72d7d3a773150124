public import EventLoop
internal import HTTPClient
public import Metrics
public import Notifications
public import StructuredLogging

/// Sends pushes to push services that speak HTTP/1.1 only, with libcurl over connections that are kept.
///
/// It is `ServiceClient` for such services: all of it runs on one event loop of its own, and every push gets exactly
/// one result. A request costs several times as much as one over HTTP/2, and each occupies a connection, so services
/// that speak HTTP/2 go there.
///
/// A push whose request was not sent waits for the next connection by itself, until its deadline; one whose
/// authorization had expired is sent once more.
///
/// A client that was started has to be closed.
public final class HTTP1Client: PushTransport {
    /// The loop that carries the connections.
    public let loop: EventLoop
    private let core: LoopBound<HTTP1ClientCore>
    private let logger: Logger
    private let metrics: MetricsRegistry
    private let seed: UInt64
    private let gate = TransportGate()

    /// Prepares a client; it connects when it is started.
    ///
    /// - Parameters:
    ///   - routes: the routes; the index of a route in this array is the `route` of a `PushRequest`.
    ///   - loopName: the name of the loop's thread.
    ///   - logger: where failures are logged.
    ///   - metrics: where the client's instruments are made.
    ///   - connectionsMaximum: how many connections there may be; nil for as many as the routes can use.
    ///   - closeTimeoutNanoseconds: the longest time that `close` waits for answers to pushes in flight.
    ///   - seed: the seed of the jitter; nil draws one.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread, or libcurl cannot be set up.
    public init(
        routes: [HTTP1Route], loopName: String, logger: Logger, metrics: MetricsRegistry,
        connectionsMaximum: Int? = nil, closeTimeoutNanoseconds: UInt64 = 5_000_000_000, seed: UInt64? = nil
    ) throws(ServiceError) {
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: loopName)
        } catch {
            throw ServiceError(.systemFailed, "the client \(loopName) cannot have a thread of its own: \(error)")
        }
        self.loop = loop
        let http: HTTPMultiClient
        do throws(HTTPClient.Failure) {
            http = try HTTPMultiClient(
                loop: loop, limits: Self.limits(routes, connectionsMaximum),
                keptFields: [PartialAnswer.explanationField])
        } catch {
            loop.stopAndJoin()
            throw ServiceError(.systemFailed, "the client \(loopName) cannot be used: \(error)")
        }
        self.logger = logger
        self.metrics = metrics
        self.seed = seed ?? UInt64.random(in: 0...UInt64.max)
        let core = HTTP1ClientCore(loop: loop, http: http, closeTimeoutNanoseconds: closeTimeoutNanoseconds)
        for (number, route) in routes.enumerated() {
            let log = HTTP1RouteLog(route: route, logger: logger, metrics: metrics)
            core.addRoute(number, route, log, seed: self.seed)
        }
        self.core = LoopBound(core, to: loop)
        var observed: [any Authorizer] = []
        for authorizer in routes.map(\.authorizer) where !observed.contains(where: { $0 === authorizer }) {
            observed.append(authorizer)
            // The authorizer may outlive the client, whose loop takes nothing after its end.
            authorizer.observe { [loop, core = self.core] in loop.submit { core.value.authorizationChanged() } }
        }
    }

    /// As many connections as all routes may use at once, and one for a probe of each.
    private static func limits(_ routes: [HTTP1Route], _ connectionsMaximum: Int?) -> HTTPMultiClient.Limits {
        var limits = HTTPMultiClient.Limits()
        let connections =
            connectionsMaximum ?? routes.reduce(0) { $0 + max(1, $1.limits.concurrentRequestsMaximum) + 1 }
        limits.connectionsPerHostMaximum = connections
        limits.connectionsMaximum = connections
        return limits
    }

    /// Adds a route; any thread may do so, before it sends the first push there.
    ///
    /// - Parameters:
    ///   - route: the route. News of its authorizer are not observed, so it must always be ready.
    ///   - number: the `route` of its pushes, which no route has had before.
    public func addRoute(_ route: HTTP1Route, number: Int) {
        let log = HTTP1RouteLog(route: route, logger: logger, metrics: metrics)
        loop.submit { [core, seed] in core.value.addRoute(number, route, log, seed: seed) }
    }

    /// Removes a route, on which no push is out.
    public func removeRoute(_ number: Int) { loop.submit { [core] in core.value.removeRoute(number) } }

    /// Lets the pushes of a route wait, and then their answers take, as long as this from now on; any thread may do so.
    public func changeDeadline(ofRoute number: Int, toNanoseconds deadline: UInt64) {
        loop.submit { [core] in core.value.deadlineChanged(ofRoute: number, toNanoseconds: deadline) }
    }

    /// Begins to connect; results go to the handler.
    public func start(handler: any PushTransportHandler) {
        gate.start(handler: handler) { loop.submit { [core] in core.value.start(handler: handler) } }
    }

    /// Sends pushes; each gets exactly one result.
    ///
    /// After `close` they end at once as not processed, on the caller's thread.
    public func send(_ requests: [PushRequest]) {
        gate.send(requests) { loop.submit { [core] in core.value.send(requests) } }
    }

    /// Closes every connection after a bounded wait for the answers to pushes in flight, and ends the loop.
    ///
    /// Pushes that wait end at once as not processed, unanswered ones as ambiguous. A second call returns at once.
    public func close() async {
        guard gate.close() else { return }
        await withCheckedContinuation { continuation in
            loop.submit { [core] in core.value.close { continuation.resume() } }
        }
        loop.stopAndJoin()
    }
}
