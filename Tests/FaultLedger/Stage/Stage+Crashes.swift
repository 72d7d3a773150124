import Glibc

extension Stage {
    /// Ends a worker in order, as soon as it is ready, and notes a problem if it crashed.
    func endInOrder(_ seat: WorkerSeat) async throws {
        try await seat.waitUntilReady()
        let exitCode = try await seat.endBySignal(SIGTERM)
        if Self.isCrash(exitCode) { report(problem: "worker \(seat.number) crashed at its end: \(exitCode)") }
    }

    /// Notes a problem for each worker that crashed, for scenarios in which workers may give up by themselves.
    func reportCrashes() {
        for seat in workers {
            for exitCode in seat.unexpectedExitCodes where Self.isCrash(exitCode) {
                report(problem: "worker \(seat.number) crashed: \(exitCode)")
            }
        }
    }

    /// Whether an exit code is that of a signal, which no worker sends itself but by a failed precondition.
    private static func isCrash(_ exitCode: Int32) -> Bool { exitCode >= 128 }
}
