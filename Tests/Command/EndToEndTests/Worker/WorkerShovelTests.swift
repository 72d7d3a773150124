import APNsSimulator
import DispatchCore
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Large fan-outs, when a shovel of RabbitMQ moves their chunks from the fan-out queue to the work queue")
struct WorkerShovelTests {
    private static let count = 600
    private static let name = "mover"

    private let broker: PrivateRabbitMQ

    init() async throws {
        broker = try await PrivateRabbitMQ.start(plugins: PrivateRabbitMQ.standardPlugins + ["rabbitmq_shovel"])
    }

    private func fixture(chunkDevices: Int) async throws -> WorkerFixture {
        let fixture = try await WorkerFixture(
            broker: broker, configuration: "[fanout]\nthreshold_devices = 250\nchunk_devices = \(chunkDevices)")
        try fixture.registerReaders(Self.count)
        return fixture
    }

    /// Starts a shovel, and waits until it consumes the fan-out queue.
    ///
    /// RabbitMQ gives a message to the worker only if the shovel cannot take it, because of the priority: so the worker
    /// serves nothing that the shovel is to move.
    ///
    /// - Parameters:
    ///   - fixture: the fixture with the queues.
    ///   - end: after how many messages it ends; `"never"`.
    /// - Throws: the error of the broker.
    private func startShovel(_ fixture: WorkerFixture, endAfter end: String) async throws {
        try await broker.control(
            "set_parameter", "shovel", Self.name,
            """
            {"src-protocol": "amqp091", "src-uri": "amqp://127.0.0.1:\(broker.port)",
             "src-queue": "\(fixture.namespace).fanout", "src-consumer-args": {"x-priority": 10},
             "src-delete-after": \(end), "ack-mode": "on-confirm",
             "dest-protocol": "amqp091", "dest-uri": "amqp://127.0.0.1:\(broker.port)",
             "dest-queue": "\(fixture.namespace).work"}
            """)
        try await eventually("the shovel to run") {
            try await broker.evaluate("rabbit_shovel_status:status().")
        } until: {
            $0.contains("{running,")
        }
    }

    private static let event = TestEvents.pushRequested("1", to: .topic("news"))

    /// Waits until each device has had its push and the fan-out is done, and expects that nothing was sent twice and
    /// that nothing is left.
    private func expectServed(_ fixture: WorkerFixture, _ worker: WorkerProcess) async throws {
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: Self.count)
        let registry = try SQLiteRegistry.open(path: fixture.folder.path + "/registry.db", mode: .readOnly)
        try await eventually("the fan-out to be done", equals: [.done]) {
            try registry.fanOuts(before: nil, limit: 2).map(\.state)
        }
        await worker.drainCleanly()
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.count == Self.count && Set(pushes.map(\.deviceToken)).count == Self.count)
        #expect(try await broker.messageCounts(namespace: fixture.namespace).values.allSatisfy { $0 == 0 })
    }

    @Test("A chunk that is brought back as often as it may be is served, and each device is reached once")
    func fewHops() async throws {
        let fixture = try await fixture(chunkDevices: 1_000)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await startShovel(fixture, endAfter: "\(DispatchStateMachine.hopsMaximum)")
        try await fixture.publish([Self.event])
        try await expectServed(fixture, worker)
        // A shovel that has moved what it was to move deletes itself.
        try await eventually("the shovel to have moved the chunk so often") {
            try await !broker.control("list_parameters").contains(Self.name)
        }
        try await fixture.stop()
    }

    @Test("Chunks that are brought back for ever become dead letters, and a replay without the shovel serves them")
    func manyHops() async throws {
        let fixture = try await fixture(chunkDevices: 250)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await startShovel(fixture, endAfter: #""never""#)
        try await fixture.publish([Self.event])
        try await worker.wait(for: "apus_dead_letters_total", #"reason="misrouted""#, toReach: 3)
        // Nothing circles while the shovel still waits for more.
        #expect(try await broker.evaluate("rabbit_shovel_status:status().").contains("{running,"))
        let expected = ["work": 0, "fanout": 0, "dead-letter": 3]
        try await eventually("all to lie among the dead letters") {
            let counts = try await broker.messageCounts(namespace: fixture.namespace)
            return expected.allSatisfy { counts["\(fixture.namespace).\($0.key)"] == $0.value }
        }
        #expect(try await fixture.simulator.recorded().isEmpty)
        let letters = try await fixture.deadLetters()
        #expect(letters.map(\.reason) == ["misrouted", "misrouted", "misrouted"])
        let advice = "Remove what moves messages from \(fixture.namespace).fanout to a work queue"
        #expect(letters.allSatisfy { $0.detail.contains("came from a work queue 4 times") }, "\(letters)")
        #expect(letters.allSatisfy { $0.detail.contains(advice) }, "\(letters)")

        try await broker.control("clear_parameter", "shovel", Self.name)
        #expect(try await fixture.apus("dead-letters", "replay", "--reason", "misrouted").exitCode == 0)
        try await expectServed(fixture, worker)
        try await fixture.stop()
    }
}

extension WorkerProcess {
    /// Ends it as an operator does, and expects that it has left nothing unfinished.
    func drainCleanly(sourceLocation: SourceLocation = #_sourceLocation) async {
        let end = await drain()
        #expect(end.exitCode == 0, "\(end.errors.suffix(4_000))", sourceLocation: sourceLocation)
    }
}
