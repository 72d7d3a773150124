import Glibc

extension Scenario {
    /// A worker is asked to end, as by a rolling update: it drains, so nothing comes again.
    static let workerTerminate = Scenario(
        name: "worker-terminate", domain: .worker,
        sentence: "SIGTERM to one of two workers, which drains; it is started again", redeliveries: 0, isShort: true
    ) { stage in
        let worker = stage.drawWorker()
        let exitCode = try await worker.endBySignal(SIGTERM)
        if exitCode != 0 { stage.report(problem: "a worker that was asked to end ended with \(exitCode)") }
        try await worker.waitUntilReady()
    }

    /// An impatient operator presses twice: what is in flight comes again.
    static let workerTerminateTwice = Scenario(
        name: "worker-terminate-twice", domain: .worker,
        sentence: "SIGTERM and at once another to one of two workers; it is started again", redeliveries: 1
    ) { stage in
        let worker = stage.drawWorker()
        worker.signal(SIGTERM)
        try await worker.waitForLog("worker.draining")
        try await worker.endBySignal(SIGTERM)
        try await worker.waitUntilReady()
    }
}
