import Glibc
import PushTestKit

extension Scenario {
    /// Another program's long transaction, during which a worker is started again.
    static let registryLocked = Scenario(
        name: "registry-locked", domain: .registry,
        sentence: "the SQLite file is locked for 30 s by another process, and one of two workers is killed meanwhile",
        redeliveries: 1
    ) { stage in
        async let locked: Void = stage.lockRegistry(seconds: 30)
        try await Pause.seconds(3)
        let worker = stage.drawWorker()
        worker.signal(SIGKILL)
        try await locked
        try await stage.waitUntilReady()
    }

    private static let failingSeconds = 12.0

    private static func files(_ name: String, _ sentence: String, _ fault: CallFault) -> Scenario {
        Scenario(
            // A worker does not start without its registry; its supervisor tries again.
            name: name, domain: .registry, sentence: sentence, redeliveries: 1, mayEndWorkers: true
        ) { stage in
            async let count = stage.failCalls(seconds: failingSeconds)
            // Its successor knows nothing, so that it has to read and to write.
            stage.drawWorker().signal(SIGKILL)
            let end = Deadline.now() + failingSeconds
            while Deadline.now() < end {
                // Devices that are gone come back, so that there is something to prune.
                let result = try await stage.apus("device", "import", input: stage.population.importLines)
                if result.exitCode != 0 { stage.report(problem: "devices were not imported: \(result)") }
                try await Pause.seconds(1)
            }
            if try await count == 0 { stage.report(problem: "no call failed") }
            try await stage.waitUntilReady()
            stage.reportCrashes()
        }.prepared { $0.equipWorkers(with: fault) }
    }

    /// Nothing can be written any more.
    static let registryFull = files(
        "registry-disk-full",
        "for 12 s the disk of the SQLite file is full, and one of two workers is killed meanwhile",
        CallFault(.write, on: .file("registry.db"), as: .full, occurrence: 1, times: .max))

    /// The disk is about to die.
    static let registryBroken = files(
        "registry-disk-broken",
        "for 12 s the disk of the SQLite file cannot be read, and one of two workers is killed meanwhile",
        CallFault(.read, on: .file("registry.db"), as: .broken, occurrence: 1, times: .max))
}
