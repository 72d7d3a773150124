import Crypto
public import EventLoop
import HTTPServer
public import Metrics
import RegistryCore
public import StructuredLogging
import Synchronization

/// Serves the registry over HTTP: its own thread for the connections, and two loops, one that reads the registry and
/// one that writes it, each with a connection of its own to the store.
public final class RegistryServer: Sendable {
    private static let connectionsMaximum = 512
    private static let idleSecondsMaximum = 30
    /// Somewhat more than the requests that wait for their turns, so that the turns decide.
    private static let waitingRequestsMaximum = 2 * RequestLine.countMaximum + 64

    /// The port that it listens on, also where the configuration asks for any.
    public var port: UInt16 { server.port }
    private let server: HTTPServer
    private let loops: (reading: EventLoop, writing: EventLoop)
    private let health: RegistryHealth
    private let events: EventService?
    private let isStopped = Atomic<Bool>(false)

    /// Binds the address and begins to serve.
    ///
    /// - Parameters:
    ///   - configuration: where, and to whom.
    ///   - registry: the registry to serve, for this server's sole use.
    ///   - reader: another connection to the same store, for reads, so that they do not wait for writers; for this
    ///     server's sole use.
    ///   - nowMilliseconds: the wall clock, in milliseconds since 1970.
    ///   - metrics: where the counters are registered.
    ///   - logger: where events of interest go.
    ///   - predecessor: a running server whose port this one takes over; stop it when this one serves.
    /// - Throws: `RegistryServerError`.
    public init(
        configuration: RegistryServerConfiguration, registry: sending any ServedRegistry,
        reader: sending any ServedRegistry,
        nowMilliseconds: @escaping @Sendable () -> Int64 = { WallClock.nowMilliseconds() }, metrics: MetricsRegistry,
        logger: Logger, takingOver predecessor: RegistryServer? = nil
    ) throws(RegistryServerError) {
        let key: CourierKey
        do throws(RegistryError) {
            key = try Self.key(of: registry)
        } catch {
            throw RegistryServerError(.unavailable, error.message)
        }
        let courierTokens = CourierTokens(key)
        loops = try Self.makeLoops()
        let loops = loops
        let health = RegistryHealth()
        self.health = health
        metrics.gauge(
            "apus_registry_api_failing",
            help: "1 while the registry's API cannot read or write the registry."
        ) { health.failure == nil ? 0 : 1 }
        let memory = configuration.events?.memory
        let makeLine = { (loop: EventLoop, registry: sending any ServedRegistry, purpose: RegistryContext.Purpose) in
            Self.line(
                RegistryContext(
                    loop: loop, registry: registry, purpose: purpose,
                    courier: LongPollQueue(loop: loop, waitSecondsMaximum: configuration.courierWaitSecondsMaximum),
                    courierTokens: courierTokens, health: health, logger: logger, nowMilliseconds: nowMilliseconds),
                loop, following: purpose == .reading ? memory : nil)
        }
        let courierAddress = CourierAddress(configuration)
        let lines = RequestLines(
            reading: makeLine(loops.reading, reader, .reading), writing: makeLine(loops.writing, registry, .writing))
        let credentials = CredentialGuard(
            requestsPerSecondMaximum: configuration.requestsPerSecondMaximum,
            eventsPerSecondMaximum: configuration.events?.eventsPerSecondMaximum ?? 1, logger: logger)
        let gate = TokenGate(credentials: credentials)
        do throws(EventLoopError) {
            events = try configuration.events.map { publishing throws(EventLoopError) in
                try EventService(
                    publishing, apps: configuration.apps, credentials: credentials, metrics: metrics, logger: logger,
                    nowMilliseconds: nowMilliseconds)
            }
        } catch {
            Self.stop(loops)
            throw RegistryServerError(.unavailable, "the registry's API cannot start its threads: \(error)")
        }
        let router = RequestRouter(
            apis: [
                NativeAPI(configuration: configuration, gate: gate),
                EventsAPI(gate: gate, service: events, keepsHistory: configuration.keepsHistory),
                OpensAPI(
                    receipts: .ofServers(with: key), keptHours: configuration.opensKeptHours, credentials: credentials,
                    nowMilliseconds: nowMilliseconds),
                CloudKitAPI(
                    configuration: configuration, credentials: credentials, courierAddress: courierAddress,
                    nowMilliseconds: nowMilliseconds),
                CognitoSyncAPI(
                    configuration: configuration, credentials: credentials, nowMilliseconds: nowMilliseconds),
                CourierAPI(tokens: courierTokens, credentials: credentials),
            ], lines: lines, metrics: RegistryAPIMetrics(metrics, errors: health.requests))
        do throws(HTTPServerError) {
            let options = Self.serverConfiguration(configuration)
            if let predecessor {
                server = try HTTPServer(takingOver: predecessor.server, configuration: options, handler: router)
            } else {
                server = try HTTPServer(configuration: options, handler: router)
            }
        } catch {
            Self.stop(loops)
            events?.stop()
            throw RegistryServerError(
                error.code == .certificateInvalid ? .certificateInvalid : .unavailable, error.message)
        }
        courierAddress.listens(on: server.port)
        events?.start()
    }

    private static func serverConfiguration(_ configuration: RegistryServerConfiguration) -> HTTPServerConfiguration {
        var options = HTTPServerConfiguration(
            name: "the registry's API", settingName: "registry.listen", host: configuration.host,
            port: configuration.port,
            identity: configuration.identity.map {
                ServerIdentity(certificateChainPEM: $0.certificateChainPEM, privateKeyPEM: $0.privateKeyPEM)
            })
        options.connectionsMaximum = Self.connectionsMaximum + LongPollQueue.waitingMaximum
        options.idleSecondsMaximum = Self.idleSecondsMaximum
        options.bodyBytesMaximum = Route.largeBodyBytes
        options.deferredRequestsMaximum = Self.waitingRequestsMaximum
        options.hosts = .names(configuration.hosts + [configuration.host, configuration.publicHost].compactMap(\.self))
        options.connectionsPerAddressMaximum =
            configuration.connectionsPerAddressMaximum > 0 ? configuration.connectionsPerAddressMaximum : nil
        options.trustedProxies = configuration.trustedProxies
        return options
    }

    deinit { stop() }

    /// Why the registry could not be read or written when it was last tried, which is once a second; nil if it could.
    public var failure: String? { health.failure }

    /// Why the requests of the last minute are in trouble: too many were answered with 5xx; nil if they are not.
    public var requestProblem: String? { health.requests.problem }

    /// Why RabbitMQ takes no events of `POST /v1/events`; nil if it does, or if there are none.
    public var eventsProblem: String? { events?.problem }

    /// How long ago the slowest of the loops last turned, in nanoseconds; 0 after the stop.
    public func nanosecondsSinceLastTick() -> UInt64 {
        if isStopped.load(ordering: .relaxed) { return 0 }
        return max(
            loops.reading.nanosecondsSinceLastTick(), loops.writing.nanosecondsSinceLastTick(),
            events?.nanosecondsSinceLastTick() ?? 0)
    }

    /// Shows another certificate to the clients that connect from now on.
    ///
    /// - Parameters:
    ///   - certificateChainPEM: the certificate and its issuers up to the anchor, as PEM text.
    ///   - privateKeyPEM: its key as PEM text.
    /// - Throws: `RegistryServerError`, `.certificateInvalid`; the old one is shown then.
    public func replace(certificateChainPEM: String, privateKeyPEM: String) throws(RegistryServerError) {
        do throws(HTTPServerError) {
            try server.replace(
                identity: ServerIdentity(certificateChainPEM: certificateChainPEM, privateKeyPEM: privateKeyPEM))
        } catch {
            throw RegistryServerError(.certificateInvalid, error.message)
        }
    }

    /// Answers received requests, closes the port, and waits for all threads; a second call does nothing.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        server.stop()
        Self.stop(loops)
        events?.stop()
    }

    /// The key that all servers of the registry share.
    ///
    /// A read-only registry without a key has issued no tokens and no receipts; a new random key recognises none.
    private static func key(of registry: any ServedRegistry) throws(RegistryError) -> CourierKey {
        do throws(RegistryError) {
            return try registry.courierKey()
        } catch {
            guard error.code == .readOnly else { throw error }
            return .random()
        }
    }

    private static func stop(_ loops: (reading: EventLoop, writing: EventLoop)) {
        // In the order in which requests pass from one to the other.
        loops.reading.stopAndJoin()
        loops.writing.stopAndJoin()
    }

    private static func makeLoops() throws(RegistryServerError) -> (reading: EventLoop, writing: EventLoop) {
        do {
            let reading = try EventLoop(name: "registry-read")
            do {
                return (reading, try EventLoop(name: "registry-write"))
            } catch {
                reading.stopAndJoin()
                throw error
            }
        } catch {
            throw RegistryServerError(.unavailable, "the registry's API cannot start its threads: \(error)")
        }
    }

    private static func line(
        _ context: sending RegistryContext, _ loop: EventLoop, following memory: (any EventMemoryFollower)?
    ) -> RequestLine {
        let bound = LoopBound(context, to: loop)
        loop.submit {
            bound.value.beginLooking()
            if let memory { bound.value.follow(memory) }
        }
        return RequestLine(bound)
    }
}
