import HTTPServer
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import StructuredLogging
import Testing

@Suite("Client over HTTP/1.1")
struct HTTP1ClientTests {
    @Test("Every push is sent once and has one result, and no more are under way than the route allows")
    func traffic() async throws {
        let port = try FreePorts.find(1)[0]
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum = 4
        let fixture = try HTTP1Fixture(port: port, limits: limits)
        let server = try fixture.serve(on: port)
        fixture.served.update { $0.isHolding = true }
        fixture.send(0..<20)
        #expect(await fixture.served.wait { $0.held.count == 4 })
        fixture.served.update { $0.isHolding = false }
        fixture.answerHeld()
        fixture.send(20..<200)
        let outcomes = await fixture.results.outcomes(200)
        #expect(outcomes.count == 200)
        #expect(outcomes.values.allSatisfy { $0 == .accepted })
        #expect(fixture.results.results.value.count == 200)
        #expect(fixture.served.value.pushes.count == 200)
        #expect(fixture.served.value.heldMaximum == 4)
        #expect(fixture.results.reachability.value.last == true)
        await fixture.client.close()
        server.stop()
    }

    @Test("A push that was answered 421 goes out once more, over a connection that is made for it")
    func misdirected() async throws {
        let port = try FreePorts.find(1)[0]
        let fixture = try HTTP1Fixture(port: port)
        let server = try fixture.serve(on: port)
        fixture.send([1])
        #expect(await fixture.results.outcomes(1) == [1: .accepted])
        let before = fixture.connectionCount
        fixture.served.update { $0.misdirectedCount = 1 }
        fixture.send([2])
        #expect(await fixture.results.outcomes(2)[2] == .accepted)
        #expect(fixture.connectionCount == before + 1)
        fixture.served.update { $0.misdirectedCount = 2 }
        fixture.send([3])
        #expect(await fixture.results.outcomes(3)[3] == .answered(PushAnswer(status: 421)))
        #expect(fixture.served.value.pushes == ["1", "2", "2", "3", "3"])
        await fixture.client.close()
        server.stop()
    }

    @Test("A service that comes late is found without a push, and pushes wait for it")
    func comesLate() async throws {
        let port = try FreePorts.find(1)[0]
        let fixture = try HTTP1Fixture(port: port)
        fixture.send([1])
        #expect(await fixture.results.reachability.wait { $0 == [false] })
        let server = try fixture.serve(on: port)
        #expect(await fixture.results.reachability.wait { $0 == [false, true] })
        #expect(await fixture.results.outcomes(1) == [1: .accepted])
        await fixture.client.close()
        server.stop()
    }

    @Test("A push that waits in vain ends as not processed, with the reason")
    func waitsInVain() async throws {
        var limits = HTTP1Limits()
        limits.deadlineNanoseconds = 300_000_000
        let fixture = try HTTP1Fixture(port: try FreePorts.find(1)[0], limits: limits)
        fixture.send([1])
        let outcome = try #require(await fixture.results.outcomes(1)[1])
        #expect(outcome.isNotProcessed)
        #expect("\(outcome)".contains("connect"))
        #expect(fixture.results.reachability.value == [false])
        await fixture.client.close()
    }

    @Test("A service that goes away under pushes makes those ambiguous, and the others wait for its return")
    func goesAway() async throws {
        let port = try FreePorts.find(1)[0]
        let proxy = try await FaultProxy.start(to: port)
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum = 2
        let fixture = try HTTP1Fixture(port: proxy.port, limits: limits)
        let server = try fixture.serve(on: port)
        fixture.served.update { $0.isHolding = true }
        fixture.send(0..<6)
        #expect(await fixture.served.wait { $0.held.count == 2 })
        fixture.served.update { $0.isHolding = false }
        try await proxy.resetAll()
        let outcomes = await fixture.results.outcomes(6)
        #expect(outcomes.values.count(where: \.isAmbiguous) == 2)
        #expect(outcomes.values.count { $0 == .accepted } == 4)
        #expect(fixture.served.value.pushes.count == 6)
        #expect(Set(fixture.served.value.pushes).count == 6)
        await fixture.client.close()
        fixture.answerHeld()
        server.stop()
        try await proxy.stop()
    }

    @Test("Closing ends pushes under way as ambiguous, waiting ones as not processed, and later ones at once")
    func closes() async throws {
        let port = try FreePorts.find(1)[0]
        var limits = HTTP1Limits()
        limits.concurrentRequestsMaximum = 1
        let fixture = try HTTP1Fixture(port: port, limits: limits)
        let server = try fixture.serve(on: port)
        fixture.served.update { $0.isHolding = true }
        fixture.send([1, 2])
        #expect(await fixture.served.wait { $0.held.count == 1 })
        await fixture.client.close()
        let outcomes = await fixture.results.outcomes(2)
        #expect(outcomes[1]?.isAmbiguous == true)
        #expect(outcomes[2]?.isNotProcessed == true)
        fixture.send([3])
        #expect(await fixture.results.outcomes(3)[3] == .notProcessed("the transport is closed"))
        await fixture.client.close()
        fixture.answerHeld()
        server.stop()
    }

    @Test("Closing waits for the answers under way")
    func closesGracefully() async throws {
        let port = try FreePorts.find(1)[0]
        let fixture = try HTTP1Fixture(port: port, closeTimeoutNanoseconds: 60_000_000_000)
        let server = try fixture.serve(on: port)
        fixture.served.update { $0.isHolding = true }
        fixture.send([1])
        #expect(await fixture.served.wait { $0.held.count == 1 })
        async let closed: Void = fixture.client.close()
        fixture.answerHeld()
        await closed
        #expect(await fixture.results.outcomes(1) == [1: .accepted])
        server.stop()
    }

    @Test("A client that was never started can be dropped, and one can be closed")
    func neverStarted() async throws {
        weak var dropped: HTTP1Client?
        do {
            let client = try HTTP1Client(routes: [], loopName: "test", logger: .silent, metrics: MetricsRegistry())
            dropped = client
        }
        #expect(dropped == nil)
        let closed = try HTTP1Client(routes: [], loopName: "test", logger: .silent, metrics: MetricsRegistry())
        await closed.close()
    }

    @Test("A push by a route that there is not ends as not processed")
    func unknownRoute() async throws {
        let fixture = try HTTP1Fixture(port: try FreePorts.find(1)[0])
        fixture.send([1], route: 7)
        #expect(await fixture.results.outcomes(1) == [1: .notProcessed("there is no such route")])
        await fixture.client.close()
    }
}
