import EventLoop
import Notifications
import PushCore

/// Sends pushes to clients that fetch their notifications, and leaves all others to another transport.
///
/// A push is accepted when the registry keeps it: from then on it waits for its client. Nothing is opened and no batch
/// is split before there is such a push.
final class CourierTransport: PushTransport {
    private let others: any PushTransport
    private let firstRoute: Int
    private let loop: EventLoop
    private let sender: LoopBound<CourierSender>

    /// Creates a transport; the registry is opened with the first push that needs it.
    ///
    /// - Parameters:
    ///   - others: what sends the other pushes.
    ///   - apps: the names of the apps, in the order of their routes.
    ///   - firstRoute: the route of the first app; all routes below are those of `others`.
    ///   - loop: where the registry is written; it outlives the transport.
    ///   - logger: where a registry that cannot be used is told of.
    ///   - nowMilliseconds: the wall clock, in milliseconds since 1970.
    ///   - openRegistry: opens the registry, on the loop.
    init(
        others: any PushTransport, apps: [String], firstRoute: Int, loop: EventLoop, logger: Logger,
        nowMilliseconds: @escaping @Sendable () -> Int64 = { WallClock.nowMilliseconds() },
        openRegistry: @escaping @Sendable () throws(RegistryError) -> any CourierRegistry
    ) {
        self.others = others
        self.firstRoute = firstRoute
        self.loop = loop
        sender = LoopBound(
            CourierSender(
                apps: apps, firstRoute: firstRoute, logger: logger, nowMilliseconds: nowMilliseconds,
                openRegistry: openRegistry), to: loop)
    }

    func start(handler: any PushTransportHandler) {
        loop.submit { [sender] in sender.value.handler = handler }
        others.start(handler: handler)
    }

    func send(_ requests: [PushRequest]) {
        guard requests.contains(where: { $0.route >= firstRoute }) else { return others.send(requests) }
        let fetched = requests.filter { $0.route >= firstRoute }
        let pushed = requests.filter { $0.route < firstRoute }
        if !pushed.isEmpty { others.send(pushed) }
        loop.submit { [sender] in sender.value.send(fetched) }
    }

    func close() async {
        await others.close()
        // What was sent before is ended when this has run.
        _ = try? await loop.run { [sender] in sender.value.close() }
    }
}
