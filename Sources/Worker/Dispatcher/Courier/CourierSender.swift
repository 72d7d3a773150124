import EventLoop
import Notifications
import PushCore

/// Deposits pushes in the registry, for their clients to fetch; lives on the loop where the registry is written.
final class CourierSender {
    /// Takes the results.
    var handler: (any PushTransportHandler)?
    private let apps: [String]
    private let firstRoute: Int
    private let logger: Logger
    private let nowMilliseconds: () -> Int64
    private let openRegistry: () throws(RegistryError) -> any CourierRegistry
    private var registry: (any CourierRegistry)?
    private var isFailing = false

    init(
        apps: [String], firstRoute: Int, logger: Logger, nowMilliseconds: @escaping () -> Int64,
        openRegistry: @escaping () throws(RegistryError) -> any CourierRegistry
    ) {
        self.apps = apps
        self.firstRoute = firstRoute
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
                PushResult(identifier: request.identifier, outcome: outcome, durationNanoseconds: duration)
            })
    }

    /// Sends no more.
    func close() {
        registry = nil
        handler = nil
    }

    private func outcomes(of requests: [PushRequest]) -> [PushOutcome] {
        let now = nowMilliseconds()
        do throws(RegistryError) {
            let areThere = try openedRegistry().deposit(requests.map { message($0, now) }, nowMilliseconds: now)
            isFailing = false
            let gone = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: now)
            return areThere.map { .answered($0 ? PushAnswer(status: 200) : gone) }
        } catch {
            // Once for each time that it is away: every push that waits comes by again.
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
            token: request.token, app: apps[request.route - firstRoute], pushID: request.apnsID,
            collapseID: request.content.collapseID,
            expiresAtMilliseconds: CourierRules.expiry(
                ofPushExpiring: request.content.expirationSeconds, nowMilliseconds: now),
            payload: request.content.payload)
    }
}
