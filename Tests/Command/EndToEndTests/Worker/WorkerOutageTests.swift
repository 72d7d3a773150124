import APNsSimulator
import Foundation
import PushServiceSimulator
import PushTestKit
import Testing

@Suite("The worker when APNs or its registry goes away")
struct WorkerOutageTests {
    /// A port on which no process listens.
    private static let nowhere: UInt16 = 1

    private static func push(_ number: Int, app: String = "chat") -> String {
        TestEvents.pushRequested("\(app)-\(number)", to: .tokens([TestDevices.token(number)]), app: app)
    }

    /// A fixture whose app reaches the simulator by a proxy, which can be told to lead nowhere.
    private func fixture(pushTimeout: String) async throws -> (WorkerFixture, FaultProxy) {
        let fixture = try await WorkerFixture(configuration: "[worker]\npush_timeout = \"\(pushTimeout)\"\n")
        try fixture.register(1)
        let proxy = try await FaultProxy.start(to: fixture.simulator.port)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml", written.replacing("127.0.0.1:\(fixture.simulator.port)", with: "127.0.0.1:\(proxy.port)"))
        return (fixture, proxy)
    }

    @Test("It stops consuming, leaves in the queue what comes, and after the outage all is sent over a few connections")
    func outage() async throws {
        let (fixture, proxy) = try await fixture(pushTimeout: "60s")
        let worker = try fixture.startWorker()
        try await fixture.publish([Self.push(0)])
        _ = try await fixture.accepted(reachingDevices: 1)
        // A connection that is cut before the answer is read leaves a push in doubt, which is sent again.
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 1)

        try await proxy.redirect(to: Self.nowhere)
        try await proxy.resetAll()
        _ = try await worker.readiness(200, mentioning: "no push service can be reached")
        try await worker.wait(for: "apus_consumer_paused", toReach: 1)
        #expect(worker.command.errors.contains("consumer.paused"))
        try await fixture.publish((1...5_000).map { Self.push($0) })
        // All are in the queue, and the worker has none: there is nothing that its memory could grow by.
        try await fixture.waitForMessages(5_000)
        #expect(try await worker.metric("apus_deliveries_unacknowledged") == 0)
        #expect(try await fixture.deadLetters().isEmpty)

        let connections = try await fixture.simulator.summary().connections
        try await proxy.redirect(to: fixture.simulator.port)
        let pushes = try await fixture.accepted(reachingDevices: 5_001)
        #expect(pushes.count == 5_001, "none twice")
        _ = try await worker.readiness(200, mentioning: #""status":"ok""#)
        #expect(try await worker.metric("apus_consumer_paused") == 0)
        // Two for each environment come back, and the pool may grow for what waits.
        #expect(try await fixture.simulator.summary().connections - connections <= 16)
        await worker.drainCleanly()
        #expect(try await fixture.deadLetters().isEmpty)
        try await fixture.waitForMessages(0)
        try await proxy.stop()
        try await fixture.stop()
    }

    @Test("A worker that starts while APNs is away requeues what it has taken, and sends it when APNs is there")
    func startsInAnOutage() async throws {
        let (fixture, proxy) = try await fixture(pushTimeout: "3s")
        try await proxy.redirect(to: Self.nowhere)
        try await fixture.publish((0..<3_000).map { Self.push($0) })
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200, mentioning: #""status":"degraded""#)
        // The events that the worker had taken by then go to the retry queues.
        try await eventually("the unacknowledged deliveries", equals: 0) {
            try await worker.metric("apus_deliveries_unacknowledged")
        }
        try await proxy.redirect(to: fixture.simulator.port)
        _ = try await fixture.accepted(reachingDevices: 3_000)
        await worker.drainCleanly()
        #expect(try await fixture.deadLetters().isEmpty)
        try await proxy.stop()
        try await fixture.stop()
    }

    @Test("With APNs away for one app alone, the other's pushes go out and the first one's wait, unspent")
    func oneOfTwoApps() async throws {
        let fixture = try await WorkerFixture(configuration: "[worker]\npush_timeout = \"3s\"\n")
        try fixture.register(1)
        let written = try fixture.folder.read("apus.toml")
        let proxy = try await FaultProxy.start(to: Self.nowhere)
        let chat = try #require(written.range(of: "[[app]]"))
        let mail = written[chat.lowerBound...].replacing("name = \"chat\"", with: "name = \"mail\"")
            .replacing("identity_pools = [\"\(TestEvents.pool)\"]", with: "")
            .replacing("127.0.0.1:\(fixture.simulator.port)", with: "127.0.0.1:\(proxy.port)")
        try fixture.folder.write("apus.toml", written + "\n" + mail)
        let worker = try fixture.startWorker()
        for round in 0..<10 {
            let numbers = round * 300..<(round + 1) * 300
            try await fixture.publish(
                numbers.map { Self.push(100_000 + $0, app: "mail") } + numbers.map { Self.push($0, app: "chat") })
        }
        _ = try await fixture.accepted(reachingDevices: 3_000)
        let body = try await worker.readiness(200)
        #expect(!body.contains("cannot be reached"))
        try await worker.wait(for: "apus_app_unreachable_routes", toReach: 1)
        try await worker.wait(
            for: "apus_pushes_total", #"app="mail",service="apns",outcome="requeued_retry""#, toReach: 3_000)
        #expect(try await worker.metric("apus_pushes_total", #"outcome="requeued_dead_letter""#) == 0)
        try await proxy.redirect(to: fixture.simulator.port)
        _ = try await fixture.accepted(reachingDevices: 6_000)
        await worker.drainCleanly()
        #expect(try await fixture.deadLetters().isEmpty)
        try await proxy.stop()
        try await fixture.stop()
    }

    @Test("A worker whose registry's file was removed sends nothing, and everything when the file is back")
    func removedRegistry() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(2)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let path = fixture.folder.path + "/registry.db"
        #expect(rename(path, path + ".aside") == 0)
        try await fixture.publish([WorkerFixture.datasetChanged("e1", identity: 0, syncCount: 1)])
        _ = try await worker.readiness(503, mentioning: "registry.db was removed")
        #expect(try await fixture.simulator.recorded().isEmpty)
        #expect(rename(path + ".aside", path) == 0)
        _ = try await fixture.accepted(reachingDevices: 1)
        _ = try await worker.readiness(200)
        await worker.drainCleanly()
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }
}
