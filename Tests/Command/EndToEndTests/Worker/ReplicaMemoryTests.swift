import APNsSimulator
import JSON
import PushTestKit
import Testing

/// The limits of several workers together, as the architecture states them.
@Suite("What replicas do not know of each other")
struct ReplicaMemoryTests {
    @Test("A throttled device is tried as often by three workers as by one, and given up after as many attempts")
    func throttledDevice() async throws {
        let throttled = TestDevices.token(0)
        let hopeless = TestDevices.token(1)
        let fixture = try await WorkerFixture(
            script: """
                {"token":"\(throttled)","answer":"throttle","times":3}
                {"token":"\(hopeless)","answer":"throttle"}
                """)
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", configuration.replacing("[retry]", with: "[retry]\nmax_attempts = 5"))
        try fixture.register(60)
        var workers: [WorkerProcess] = []
        for _ in 0..<3 { workers.append(try fixture.startWorker()) }
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.publish(
            (0..<60).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        _ = try await fixture.accepted(reachingDevices: 59)
        let letters = try await eventually("a dead letter") {
            try await fixture.deadLetters()
        } until: {
            !$0.isEmpty
        }
        #expect(letters.map(\.reason) == ["attempts-exhausted"])
        for worker in workers { await worker.drainCleanly() }
        let tries = Dictionary(grouping: try await fixture.simulator.recorded(), by: \.deviceToken)
        #expect(tries[throttled]?.map(\.status) == [429, 429, 429, 200])
        #expect(tries[hopeless]?.map(\.status) == [429, 429, 429, 429, 429])
        for pushes in tries.values { #expect(Set(pushes.map(\.apnsID)).count == 1) }
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("A burst on one dataset costs two workers as many pushes at most, and the newest count is announced")
    func burst() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let count = 60
        try await fixture.publish(
            (1...count).map { WorkerFixture.datasetChanged("e\($0)", identity: 0, syncCount: $0) })
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.waitForMessages(0)
        for worker in workers {
            let end = await worker.drain()
            #expect(end.exitCode == 0 && !end.errors.contains(#""balanced":false"#), "\(end.errors)")
        }
        let pushes = try await fixture.simulator.recorded()
        let counts = try pushes.map { push in
            try JSONParser().parse(String(decoding: push.payload, as: UTF8.self)).object?["data"]?.object?["syncCount"]
        }
        #expect(pushes.count <= count)
        #expect(counts.contains { $0?.string == String(count) }, "the newest is missing: \(counts)")
        #expect(Set(pushes.map(\.collapseID)).count == 1)
        try await fixture.stop()
    }
}
