import Notifications
import PushTestKit
import Testing

@testable import Dispatcher

@Suite("Several transports as one")
struct TransportSwitchTests {
    private final class Member: PushTransport {
        let sent = Watched<[[Int]]>([])
        let handler = Watched<(any PushTransportHandler)?>(nil)
        let isClosed = Watched(false)

        func start(handler: any PushTransportHandler) { self.handler.update { $0 = handler } }
        func send(_ requests: [PushRequest]) { sent.update { $0.append(requests.map(\.route)) } }
        func close() async { isClosed.update { $0 = true } }
    }

    private final class Handler: PushTransportHandler {
        let changes = Watched<[RouteChange]>([])
        let results = Watched<[UInt64]>([])

        func pushesEnded(_ results: [AttemptResult]) { self.results.update { $0 += results.map(\.identifier) } }
        func routesChanged(_ changes: [RouteChange]) { self.changes.update { $0 += changes } }
    }

    private static func requests(_ routes: [Int]) throws -> [PushRequest] {
        try routes.map { route in
            PushRequest(
                identifier: UInt64(route), route: route, token: try #require(DeviceToken(bytes: [1])),
                apnsID: APNsIdentifier(high: 1, low: 1),
                content: PushContent(
                    payload: [], topic: "", pushType: .alert, priority: .immediate, expirationSeconds: nil,
                    collapseID: nil))
        }
    }

    @Test("Each push goes to the transport of its route, by that transport's own number, and reports come back")
    func routes() async throws {
        let (first, second, unused, last) = (Member(), Member(), Member(), Member())
        let whole = TransportSwitch([
            .init(routes: 4..<5, transport: last), .init(routes: 0..<2, transport: first),
            .init(routes: 2..<2, transport: unused), .init(routes: 2..<4, transport: second),
        ])
        let handler = Handler()
        whole.start(handler: handler)
        whole.send(try Self.requests([0, 1, 0]))
        whole.send(try Self.requests([3, 0, 4, 2]))
        whole.send(try Self.requests([2, 3]))
        #expect(first.sent.value == [[0, 1, 0], [0]])
        #expect(second.sent.value == [[1, 0], [0, 1]])
        #expect(last.sent.value == [[0]])
        for member in [first, second, last] {
            member.handler.value?.routesChanged([RouteChange(route: 0, isReachable: false)])
            member.handler.value?.pushesEnded([
                AttemptResult(identifier: 7, outcome: .notProcessed(""), durationNanoseconds: 0)
            ])
        }
        #expect(handler.changes.value.map(\.route) == [0, 2, 4])
        #expect(handler.results.value == [7, 7, 7])
        await whole.close()
        #expect([first, second, last].allSatisfy { $0.isClosed.value })
        #expect(unused.handler.value == nil && unused.sent.value.isEmpty)
    }
}
