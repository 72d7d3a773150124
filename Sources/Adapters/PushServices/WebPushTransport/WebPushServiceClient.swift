internal import Crypto
internal import EventLoop
public import Metrics
public import Notifications
public import ServiceClient
public import StructuredLogging

/// Sends pushes to browsers: encrypts each message for its subscription, and sends it to the origin that the browser
/// named.
///
/// An app is one route, whatever its origins are. Each origin of an app has a pool of connections of its own, which is
/// made when the first push comes (`OriginTable`). Encryption has threads of its own (`EncryptionPool`), and so have
/// origins that do not speak HTTP/2 (`HTTP1Client`); all else runs on one event loop.
///
/// Every push gets exactly one result, as from `ServiceClient`. A subscription that cannot be used (no keys, a point
/// that is not on the curve, an endpoint that is not allowed) is answered 400 with a word of `SubscriptionProblem`.
public final class WebPushServiceClient: PushTransport {
    /// The connections, with the loop that carries all but encryption.
    public let client: ServiceClient
    private let http1: HTTP1Client
    private let core: LoopBound<WebPushCore>
    private let encryption: EncryptionPool
    private let gate = TransportGate()

    /// How many connections over HTTP/1.1 there may be, to all origins.
    ///
    /// Each origin has a bound of its own, and those of strangers together stay below half of this, so that a known one
    /// always finds a connection.
    private static let http1ConnectionsMaximum = 1_024

    /// Prepares a client; it connects when there is something to send.
    ///
    /// - Parameters:
    ///   - configuration: the apps and the bounds.
    ///   - logger: where connections that come and go are logged.
    ///   - metrics: where the client's instruments are made.
    /// - Throws: `ServiceError` with `routeInvalid` if the trust anchors cannot be read, `systemFailed` if there is no
    ///   thread.
    public init(
        configuration: WebPushServiceConfiguration, logger: Logger, metrics: MetricsRegistry
    ) throws(ServiceError) {
        do throws(CryptoError) {
            _ = try TLSContext.client(
                extraTrustAnchorsFile: configuration.extraTrustAnchorsFile, applicationProtocols: ["h2"])
        } catch {
            throw ServiceError(
                error.code == .libraryFailed ? .systemFailed : .routeInvalid, "Web Push: \(error.message)")
        }
        let client = try ServiceClient(
            routes: [], loopName: "webpush", logger: logger, metrics: metrics,
            closeTimeoutNanoseconds: configuration.closeTimeoutNanoseconds, seed: configuration.seed)
        do throws(ServiceError) {
            http1 = try HTTP1Client(
                routes: [], loopName: "webpush-http1", logger: logger, metrics: metrics,
                connectionsMaximum: Self.http1ConnectionsMaximum,
                closeTimeoutNanoseconds: configuration.closeTimeoutNanoseconds, seed: configuration.seed)
        } catch {
            client.loop.stopAndJoin()
            throw error
        }
        let core = LoopBound(
            WebPushCore(
                configuration: configuration, client: client, http1: http1,
                log: OriginLog(configuration: configuration, logger: logger, metrics: metrics)), to: client.loop)
        do throws(ServiceError) {
            encryption = try EncryptionPool(
                threadCount: configuration.encryptionThreads, waitingMaximum: configuration.encryptionWaitingMaximum
            ) { results in core.loop.submit { core.value.encrypted(results) } }
        } catch {
            client.loop.stopAndJoin()
            http1.loop.stopAndJoin()
            throw error
        }
        self.client = client
        self.core = core
    }

    /// Begins to serve; results go to the handler.
    public func start(handler: any PushTransportHandler) {
        gate.start(handler: handler) {
            client.loop.submit { [core, encryption] in
                core.value.start(handler: handler, encryption: encryption, here: core)
            }
            client.start(handler: Relay(core: core, client: .http2))
            http1.start(handler: Relay(core: core, client: .http1))
        }
    }

    /// Sends pushes; each gets exactly one result.
    ///
    /// After `close` they end at once as not processed, on the caller's thread.
    public func send(_ requests: [PushRequest]) {
        gate.send(requests) { client.loop.submit { [core] in core.value.send(requests) } }
    }

    /// Closes every connection, after a bounded wait for the answers to pushes in flight, and ends all threads.
    ///
    /// Pushes that are not encrypted yet, or wait for a stream, end as not processed. A second call returns at once.
    public func close() async {
        guard gate.close() else { return }
        encryption.close()
        // The results of the threads are on the loop by now, before this.
        await withCheckedContinuation { continuation in
            client.loop.submit { [core] in
                core.value.close()
                continuation.resume()
            }
        }
        await http1.close()
        await client.close()
    }
}

/// Hands what a client reports to the core, on the core's loop.
private final class Relay: PushTransportHandler {
    private let core: LoopBound<WebPushCore>
    private let client: WebPushCore.Client

    init(core: LoopBound<WebPushCore>, client: WebPushCore.Client) { (self.core, self.client) = (core, client) }

    func pushesEnded(_ results: [AttemptResult]) { run { $0.ended(results) } }

    func routesChanged(_ changes: [RouteChange]) { run { [client] in $0.routesChanged(changes, of: client) } }

    /// The thread is another one for HTTP/1.1, and for pushes that come after the client's end.
    private func run(_ body: @escaping @Sendable (WebPushCore) -> Void) {
        guard core.loop.isOnLoop else { return core.loop.submit { [core] in body(core.value) } }
        body(core.value)
    }
}
