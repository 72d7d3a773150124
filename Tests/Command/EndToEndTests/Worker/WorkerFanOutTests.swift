import APNsSimulator
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Large fan-outs, with workers as processes between RabbitMQ and APNs")
struct WorkerFanOutTests {
    private static let count = 10_000

    /// The most unsettled chunks of a worker, all of which it may have to repeat.
    private static let unsettledChunksMaximum = 4

    private func fixture(chunkDevices: Int) async throws -> WorkerFixture {
        let fixture = try await WorkerFixture(
            configuration: "[fanout]\nthreshold_devices = 1000\nchunk_devices = \(chunkDevices)")
        try fixture.registerReaders(Self.count)
        return fixture
    }

    private func event(_ identifier: String) -> String {
        TestEvents.pushRequested(identifier, to: .topic("news"))
    }

    /// Waits until the one fan-out of a registry is done.
    private func waitUntilDone(_ fixture: WorkerFixture) async throws -> FanOut {
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .readOnly)
        let list = try await eventually("the fan-out to be done") { () -> [FanOut] in
            let list = try registry.fanOuts(before: nil, limit: 2)
            try #require(list.count < 2, "the event has two fan-outs")
            return list
        } until: {
            $0.first?.state == .done
        }
        return list[0]
    }

    @Test("Two workers share one event: each serves chunks of it, and each device is reached once")
    func sharesOneEvent() async throws {
        let fixture = try await fixture(chunkDevices: 250)
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.publish([event("1")])
        let fanOut = try await waitUntilDone(fixture)
        #expect(fanOut.chunksServed == 40 && fanOut.devicesPlanned == Self.count)
        // The end of a chunk is written down before the worker counts it.
        let served = try await eventually("40 chunks served") {
            var served: [Int] = []
            for worker in workers { served.append(try await worker.metric("apus_fanout_chunks_total", "served")) }
            return served
        } until: {
            $0.reduce(0, +) >= 40
        }
        #expect(served.reduce(0, +) == 40 && served.allSatisfy { $0 > 0 }, "\(served)")
        for worker in workers { await worker.drainCleanly() }
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.count == Self.count && Set(pushes.map(\.deviceToken)).count == Self.count)
        try await fixture.stop()
    }

    @Test("Subscribers of a record are served in chunks that name their subscriptions, and each device is reached once")
    func servesSubscribers() async throws {
        let fixture = try await WorkerFixture(
            configuration: "[fanout]\nthreshold_devices = 250\nchunk_devices = 250")
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .create)
        let count = 1_500
        try registry.upsert(
            try (0..<count).map { index in
                Device(
                    deviceID: "device-\(index)", platform: .apns, token: try WorkerFixture.token(index), app: "chat",
                    userID: "user-\(index % 500)", registeredAtMilliseconds: 1_600_000_000_000)
            })
        let subscriptions = (0..<500).map { index in
            var subscription = RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("user-\(index)"), subscriptionID: "songs"),
                recordType: "Song", predicate: .always, savedAtMilliseconds: 0)
            subscription.notification.alertBody = "New"
            return subscription
        }
        _ = try registry.save(subscriptions)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([TestEvents.record("1", name: "song")])
        let fanOut = try await waitUntilDone(fixture)
        #expect(fanOut.chunksServed == 6 && fanOut.devicesPlanned == count)
        await worker.drainCleanly()
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.count == count && Set(pushes.map(\.deviceToken)).count == count)
        try await fixture.stop()
    }

    @Test("A worker that is killed while it serves chunks loses nothing, and repeats at most the chunks that it held")
    func killedWhileServing() async throws {
        let fixture = try await fixture(chunkDevices: 250)
        let first = try fixture.startWorker()
        let second = try fixture.startWorker()
        for worker in [first, second] { _ = try await worker.readiness(200) }
        try await fixture.publish([event("1")])
        try await fixture.simulator.waitForAnswers(Self.count / 4)
        await first.killHard()
        let accepted = try await fixture.accepted(reachingDevices: Self.count)
        let fanOut = try await waitUntilDone(fixture)
        #expect(fanOut.chunksServed == 40)
        let repeated = accepted.count - Self.count
        #expect(repeated <= Self.unsettledChunksMaximum * 250, "\(repeated) pushes were repeated")
        await second.drainCleanly()
        try await fixture.stop()
    }

    @Test("A worker that is killed while it plans is followed by another, and the event has one fan-out")
    func killedWhilePlanning() async throws {
        let fixture = try await fixture(chunkDevices: 250)
        let first = try fixture.startWorker()
        _ = try await first.readiness(200)
        async let published: Void = fixture.publish([event("1")])
        try await first.wait(for: "apus_fanout_chunks_planned_total", toReach: 1)
        await first.killHard()
        try await published
        let second = try fixture.startWorker()
        // The first may have served all by now; a process that is only starting does not drain.
        _ = try await second.readiness(200)
        let accepted = try await fixture.accepted(reachingDevices: Self.count)
        let fanOut = try await waitUntilDone(fixture)
        #expect(fanOut.chunksPlanned == 40 && fanOut.chunksServed == 40 && fanOut.devicesPlanned == Self.count)
        #expect(accepted.count - Self.count <= Self.unsettledChunksMaximum * 250)
        await second.drainCleanly()
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }
}
