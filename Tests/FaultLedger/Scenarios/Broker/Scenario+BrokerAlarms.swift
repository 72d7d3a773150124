import Glibc
import PushTestKit

extension Scenario {
    /// How many messages make a backlog before the alarm.
    private static let backlogCount = 400

    /// The broker has no memory left: it takes no publishes, and acknowledgements have to go on.
    static let brokerMemoryAlarm = Scenario(
        name: "broker-memory-alarm", domain: .broker,
        sentence: "a memory alarm blocks publishing while a backlog is worked off, which has to go on",
        setting: Setting(isBrokerPrivate: true), redeliveries: 0
    ) { stage in
        try await workOffBacklog(
            stage, raise: ["set_vm_memory_high_watermark", "0"], clear: ["set_vm_memory_high_watermark", "0.4"])
    }

    /// The same for the disk.
    static let brokerDiskAlarm = Scenario(
        name: "broker-disk-alarm", domain: .broker,
        sentence: "a disk alarm blocks publishing while a backlog is worked off, which has to go on",
        setting: Setting(isBrokerPrivate: true), redeliveries: 0
    ) { stage in
        try await workOffBacklog(
            stage, raise: ["set_disk_free_limit", "900000GB"], clear: ["set_disk_free_limit", "10MB"])
    }

    private static func workOffBacklog(_ stage: Stage, raise: [String], clear: [String]) async throws {
        for worker in stage.workers { worker.signal(SIGSTOP) }
        try await stage.waitForConfirms(backlogCount)
        let broker = try stage.broker
        try await broker.control(raise)
        guard try await stage.publisher.load.wait(deadlineSeconds: 30, until: { $0.isBlocked }) else {
            throw StageFailure("the alarm did not block the publisher")
        }
        let backlog = try await stage.waitingCount()
        for worker in stage.workers { worker.signal(SIGCONT) }
        // What APNs answered with 503, one event of twenty or so, waits for the publisher; everything else can be
        // acknowledged.
        try await eventually(
            "the backlog of \(backlog) to shrink to a fifth while publishing is blocked", within: .seconds(60)
        ) {
            try await stage.waitingCount()
        } until: {
            $0 <= backlog / 5
        }
        try await Pause.seconds(stage.draw(1...3))
        try await broker.control(clear)
        try await stage.waitUntilReady()
    }
}
