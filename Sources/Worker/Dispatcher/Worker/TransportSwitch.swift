import Notifications
import Synchronization

/// One transport made of several, each of which has a range of the routes.
///
/// A batch of one push service goes on as it is; only a mixed one is split.
final class TransportSwitch: PushTransport {
    /// A transport, and its routes.
    struct Member: Sendable {
        /// The routes of the whole that lead here; its own are counted from 0.
        let routes: Range<Int>
        /// The transport.
        let transport: any PushTransport
    }

    private let members: [Member]

    /// Joins transports.
    ///
    /// - Parameter members: the transports, whose routes follow each other from 0 on; those without a route are left
    ///   out.
    init(_ members: [Member]) {
        // The first ranges have the most pushes, so a batch meets its member at once.
        self.members = members.filter { !$0.routes.isEmpty }
            .sorted { $0.routes.lowerBound < $1.routes.lowerBound }
    }

    func start(handler: any PushTransportHandler) {
        for member in members {
            let offset = member.routes.lowerBound
            member.transport.start(handler: offset == 0 ? handler : ShiftedHandler(handler, by: offset))
        }
    }

    func send(_ requests: [PushRequest]) {
        for member in members {
            let offset = member.routes.lowerBound
            if offset == 0, requests.allSatisfy({ member.routes.contains($0.route) }) {
                return member.transport.send(requests)
            }
            var own: [PushRequest] = []
            for var request in requests where member.routes.contains(request.route) {
                request.route -= offset
                own.append(request)
            }
            if !own.isEmpty { member.transport.send(own) }
        }
    }

    func close() async {
        await withTaskGroup { group in
            for member in members { group.addTask { await member.transport.close() } }
        }
    }
}

/// Passes on what a member reports, in the numbers of the whole.
private final class ShiftedHandler: PushTransportHandler {
    private let handler: any PushTransportHandler
    private let offset: Int

    init(_ handler: any PushTransportHandler, by offset: Int) {
        self.handler = handler
        self.offset = offset
    }

    func pushesEnded(_ results: [AttemptResult]) { handler.pushesEnded(results) }

    func routesChanged(_ changes: [RouteChange]) {
        handler.routesChanged(
            changes.map { RouteChange(route: $0.route + offset, isReachable: $0.isReachable) })
    }
}
