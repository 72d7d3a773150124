import Glibc
import PushTestKit
import Testing

@Suite("What a worker and the registry's API tell systemd")
struct ServiceNotificationTests {
    /// Starts a worker as systemd would, with a short watchdog.
    private static func startWorker(of fixture: WorkerFixture, _ receiver: NotificationReceiver) throws
        -> WorkerProcess
    {
        try WorkerProcess(
            in: fixture.folder,
            prefix: ["/usr/bin/env", "NOTIFY_SOCKET=\(receiver.path)", "WATCHDOG_USEC=200000"])
    }

    @Test("A worker is ready, gives signs of life, tells a reload and a stop, in this order")
    func worker() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let receiver = try NotificationReceiver(at: fixture.folder.path + "/notify")
        let worker = try Self.startWorker(of: fixture, receiver)
        try await receiver.wait(for: "STATUS=ready")
        try await receiver.wait(for: "signs of life") { $0.count { $0 == "WATCHDOG=1" } >= 3 }
        worker.command.signal(SIGHUP)
        try await receiver.wait(for: "the end of the reload") { $0.count { $0 == "READY=1" } == 2 }
        await worker.drainCleanly()
        try await receiver.wait(for: "STOPPING=1")
        #expect(receiver.milestones == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        try await fixture.stop()
    }

    @Test("A worker that waits for RabbitMQ has started, says what it waits for, and is ready when it consumes")
    func waitsForTheBroker() async throws {
        let fixture = try await WorkerFixture(broker: PrivateRabbitMQ.start())
        try fixture.register(1)
        let receiver = try NotificationReceiver(at: fixture.folder.path + "/notify")
        fixture.broker.pause()
        let worker = try Self.startWorker(of: fixture, receiver)
        let lines = try await receiver.wait(for: "READY=1")
        #expect(lines.contains { $0.hasPrefix("STATUS=not ready: ") && $0.contains("RabbitMQ") }, "\(lines)")
        try await receiver.wait(for: "signs of life") { $0.count { $0 == "WATCHDOG=1" } >= 3 }
        fixture.broker.resume()
        try await receiver.wait(for: "STATUS=ready")
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("The registry's API is ready when it listens, and tells a reload and a stop")
    func registry() async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotificationReceiver(at: "@apus-test-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        try folder.write("apus.toml", "[registry]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n")
        let command = try RunningCommand(["registry"], environment: ["NOTIFY_SOCKET": receiver.path], in: folder)
        try await command.wait(for: "ready at ", in: \.output)
        try await receiver.wait(for: "STATUS=ready")
        command.signal(SIGHUP)
        try await receiver.wait(for: "the end of the reload") { $0.count { $0 == "READY=1" } == 2 }
        #expect(await command.stop().exitCode == 0)
        #expect(receiver.milestones == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        #expect(!receiver.lines.contains("WATCHDOG=1"))
    }

    @Test("A worker goes on without a service manager that cannot be told, and warns")
    func badSocket() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try WorkerProcess(in: fixture.folder, prefix: ["/usr/bin/env", "NOTIFY_SOCKET=notify"])
        _ = try await worker.readiness(200)
        #expect(worker.command.errors.contains("service.notification.failed"))
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
