import EventLoop
import Notifications
import RegistryCore
import StructuredLogging

/// Sends pushes to clients that fetch their notifications: one route for each app.
///
/// A push is accepted when the registry keeps it: from then on it waits for its client. Nothing is opened before the
/// first such push.
final class CourierTransport: PushTransport {
    private let loop: EventLoop
    private let sender: LoopBound<MailboxWriter>

    /// Creates a transport; the registry is opened with the first push that needs it.
    ///
    /// - Parameters:
    ///   - apps: the names of the apps, in the order of their routes.
    ///   - loop: where the registry is written; it outlives the transport.
    ///   - logger: logs failures of the registry.
    ///   - nowMilliseconds: the wall clock, in milliseconds since 1970.
    ///   - openRegistry: opens the registry, on the loop.
    init(
        apps: [String], loop: EventLoop, logger: Logger,
        nowMilliseconds: @escaping @Sendable () -> Int64 = { WallClock.nowMilliseconds() },
        openRegistry: @escaping @Sendable () throws(RegistryError) -> any CourierRegistry
    ) {
        self.loop = loop
        sender = LoopBound(
            MailboxWriter(
                apps: apps, logger: logger, nowMilliseconds: nowMilliseconds,
                openRegistry: openRegistry), to: loop)
    }

    func start(handler: any PushTransportHandler) {
        loop.submit { [sender] in sender.value.handler = handler }
    }

    func send(_ requests: [PushRequest]) {
        loop.submit { [sender] in sender.value.send(requests) }
    }

    func close() async {
        // All earlier sends have ended when this has run.
        _ = try? await loop.run { [sender] in sender.value.close() }
    }
}

/// Deposits pushes in the registry, for their clients to fetch; lives on the loop where the registry is written.
final class MailboxWriter {
    /// Takes the results.
    var handler: (any PushTransportHandler)?
    private let apps: [String]
    private let logger: Logger
    private let nowMilliseconds: () -> Int64
    private let openRegistry: () throws(RegistryError) -> any CourierRegistry
    private var registry: (any CourierRegistry)?
    private var isFailing = false

    init(
        apps: [String], logger: Logger, nowMilliseconds: @escaping () -> Int64,
        openRegistry: @escaping () throws(RegistryError) -> any CourierRegistry
    ) {
        self.apps = apps
        self.logger = logger
        self.nowMilliseconds = nowMilliseconds
        self.openRegistry = openRegistry
    }

    /// Sends pushes: those of devices that are gone are answered as APNs would, and none is accepted if the registry
    /// cannot be written.
    func send(_ requests: [PushRequest]) {
        let began = MonotonicClock.nowNanoseconds()
        let outcomes = outcomes(of: requests)
        let duration = MonotonicClock.nowNanoseconds() - began
        handler?.pushesEnded(
            zip(requests, outcomes).map { request, outcome in
                AttemptResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: duration)
            })
    }

    /// Sends no more.
    func close() {
        registry = nil
        handler = nil
    }

    private func outcomes(of requests: [PushRequest]) -> [AttemptOutcome] {
        let now = nowMilliseconds()
        do throws(RegistryError) {
            let areThere = try openedRegistry().deposit(requests.map { message($0, now) }, nowMilliseconds: now)
            isFailing = false
            let gone = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: now)
            return areThere.map { .answered($0 ? PushAnswer(status: 200) : gone) }
        } catch {
            // Logged once for each outage: every waiting push comes here again.
            if !isFailing { logger.log(.error, "courier.registry.failed", [.field("reason", error.message)]) }
            isFailing = true
            return Array(repeating: .notProcessed("the registry cannot be written"), count: requests.count)
        }
    }

    private func openedRegistry() throws(RegistryError) -> any CourierRegistry {
        if let registry { return registry }
        let opened = try openRegistry()
        registry = opened
        return opened
    }

    private func message(_ request: PushRequest, _ now: Int64) -> CourierMessage {
        CourierMessage(
            token: request.token, app: apps[request.route], pushID: request.apnsID,
            collapseID: request.content.collapseID,
            expiresAtMilliseconds: CourierRules.expiry(
                ofPushExpiring: request.content.expirationSeconds, nowMilliseconds: now),
            payload: request.content.payload)
    }
}
