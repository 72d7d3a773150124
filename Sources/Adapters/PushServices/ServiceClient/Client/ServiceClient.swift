internal import Crypto
public import EventLoop
public import Metrics
public import Notifications
public import StructuredLogging
internal import Synchronization

/// Sends pushes to push services over pools of long-lived HTTP/2 connections.
///
/// All of it runs on one event loop of its own. Pushes and results cross to it in batches; no task, lock or timer
/// belongs to a single push. `ConnectionPool` makes the decisions, one pool for each route.
///
/// Every push gets exactly one result: `answered`, `notProcessed` (resending it cannot make a duplicate; the pool has
/// tried again by itself already), or `ambiguous` (its deadline passed or its connection was lost).
///
/// A client that was started has to be closed.
public final class ServiceClient: PushTransport {
    private struct State {
        var instruments: [(app: String, metrics: ServiceMetrics)] = []
        /// The contexts by the file of their trust anchors, which is read once for all routes.
        var contexts: [String: TLSContext] = [:]

        mutating func context(for route: ServiceRoute) throws(ServiceError) -> TLSContext {
            let file = route.extraTrustAnchorsFile ?? ""
            if let known = contexts[file] { return known }
            let context = try route.makeContext()
            contexts[file] = context
            return context
        }

        /// The instruments of the app of a route, which its routes share.
        mutating func instruments(for route: ServiceRoute, _ registry: MetricsRegistry) -> ServiceMetrics {
            if let known = instruments.first(where: { $0.app == route.app }) { return known.metrics }
            let made = ServiceMetrics(app: route.app, service: route.service, registry: registry)
            instruments.append((route.app, made))
            return made
        }
    }

    /// The loop that carries the connections.
    public let loop: EventLoop
    private let core: LoopBound<ClientCore>
    private let logger: Logger
    private let metrics: MetricsRegistry
    private let seed: UInt64
    private let state: Mutex<State>
    private let gate = TransportGate()

    /// Prepares a client; it connects when it is started.
    ///
    /// - Parameters:
    ///   - routes: the routes; the index of a route in this array is the `route` of a `PushRequest`.
    ///   - loopName: the name of the loop's thread.
    ///   - logger: where connections that come and go are logged.
    ///   - metrics: where the client's instruments are made.
    ///   - closeTimeoutNanoseconds: the longest time that `close` waits for answers to pushes in flight.
    ///   - seed: the seed of the pools' jitter; nil draws one.
    /// - Throws: `ServiceError` with `routeInvalid` if a trust anchor cannot be read, `systemFailed` if there is no
    ///   thread.
    public init(
        routes: [ServiceRoute], loopName: String, logger: Logger, metrics: MetricsRegistry,
        closeTimeoutNanoseconds: UInt64 = 5_000_000_000, seed: UInt64? = nil
    ) throws(ServiceError) {
        var parts: [RouteParts] = []
        var state = State()
        for route in routes {
            let log = EndpointPoolLog(route: route, logger: logger, metrics: state.instruments(for: route, metrics))
            parts.append(RouteParts(configuration: route, context: try state.context(for: route), log: log))
        }
        self.logger = logger
        self.metrics = metrics
        self.seed = seed ?? UInt64.random(in: 0...UInt64.max)
        self.state = Mutex(state)
        do throws(EventLoopError) {
            loop = try EventLoop(name: loopName)
        } catch {
            throw ServiceError(.systemFailed, "the client \(loopName) cannot have a thread of its own: \(error)")
        }
        let core = ClientCore(loop: loop, closeTimeoutNanoseconds: closeTimeoutNanoseconds)
        for part in parts { _ = core.addRoute(part, seed: self.seed) }
        self.core = LoopBound(core, to: loop)
        var observed: [any Authorizer] = []
        for authorizer in routes.map(\.authorizer) where !observed.contains(where: { $0 === authorizer }) {
            observed.append(authorizer)
            // The authorizer may outlive the client, whose loop takes nothing after its end.
            authorizer.observe { [loop, core = self.core] in loop.submit { core.value.authorizationChanged() } }
        }
    }

    /// The open connections of each app, and its pushes that are not answered yet; any thread may ask.
    public var connections: [(app: String, openCount: Int, streamCount: Int)] {
        state.withLock { $0.instruments }.map { app, metrics in
            (app, metrics.openOfApp.value, metrics.streamsOfApp.value)
        }
    }

    /// Begins to connect; results go to the handler.
    public func start(handler: any PushTransportHandler) {
        gate.start(handler: handler) {
            loop.submit { [core] in core.value.start(handler: handler, fromElsewhere: core) }
        }
    }

    /// Adds a route while the client is open; must be called on its loop.
    ///
    /// Routes with the same file of trust anchors share what was read from it. An authorizer that is ever pending is
    /// for routes that are there from the beginning.
    ///
    /// - Parameter route: the route.
    /// - Returns: its number, which may have been that of a removed route.
    /// - Throws: `ServiceError` with `routeInvalid` if the trust anchor cannot be read.
    public func addRoute(_ route: ServiceRoute) throws(ServiceError) -> Int {
        let (instruments, context) = try state.withLock { [metrics] (state) throws(ServiceError) in
            (state.instruments(for: route, metrics), try state.context(for: route))
        }
        let log = EndpointPoolLog(route: route, logger: logger, metrics: instruments)
        return core.value.addRoute(RouteParts(configuration: route, context: context, log: log), seed: seed)
    }

    /// Removes a route, whose number is free again; must be called on the loop, when no push is out on the route.
    public func removeRoute(_ number: Int) { core.value.removeRoute(number) }

    /// Lets the pushes of a route wait, and then their answers take, as long as this from now on; must be called on the
    /// loop.
    public func changeDeadline(ofRoute number: Int, toNanoseconds deadline: UInt64) {
        core.value.deadlineChanged(ofRoute: number, toNanoseconds: deadline)
    }

    /// Sends pushes; each gets exactly one result.
    ///
    /// After `close` they end at once as not processed, on the caller's thread.
    public func send(_ requests: [PushRequest]) {
        gate.send(requests) { loop.submit { [core] in core.value.send(requests) } }
    }

    /// Closes every connection with a GOAWAY, after a bounded wait for the answers to pushes in flight, and ends the
    /// loop.
    ///
    /// Pushes that wait for a stream end at once as not processed, unanswered ones as ambiguous. A second call returns
    /// at once.
    public func close() async {
        guard gate.close() else { return }
        await withCheckedContinuation { continuation in
            loop.submit { [core] in core.value.close { continuation.resume() } }
        }
        loop.stopAndJoin()
    }
}
