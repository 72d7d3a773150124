import Glibc

extension Scenario {
    /// A worker dies as by a power failure, and its supervisor starts it again.
    static let workerKill = Scenario(
        name: "worker-kill", domain: .worker, sentence: "SIGKILL to one of two workers; it is started again",
        redeliveries: 1, isShort: true
    ) { stage in
        let worker = stage.drawWorker()
        try await worker.endBySignal(SIGKILL)
        try await worker.waitUntilReady()
    }
}
