import PushTestKit

extension WorkerProcess {
    /// How many pushes it has seen accepted.
    func accepted() async throws -> Int { try await metric("apus_pushes_total", #"outcome="accepted""#) }

    /// Waits until that many pushes were accepted.
    func wait(forAccepted count: Int, minutes: Int = 2) async throws {
        try await wait("\(count) accepted pushes", minutes: minutes) { try await accepted() >= count }
    }

    /// Waits until a condition holds.
    ///
    /// It is looked at rarely, because answering costs the worker some of the time that is measured.
    func wait(
        _ what: String, minutes: Int = 2, pauseMilliseconds: Int = 50, until condition: () async throws -> Bool
    ) async throws {
        for _ in 0..<(minutes * 60_000 / pauseMilliseconds) {
            if try await condition() { return }
            try await Pause.seconds(Double(pauseMilliseconds) / 1_000)
        }
        throw BenchmarkFailure(
            description: "the worker did not reach \(what) in \(minutes) minutes: \(command.errors.suffix(2_000))")
    }

    /// A line of its status with a size, in MiB: `VmRSS` now, `VmHWM` at most so far (proc(5)).
    func mebibytes(_ line: String) throws -> Double {
        Double(try ProcessStatus.kibibytes(line, of: command.identifier)) / 1_024
    }
}

extension Workbench {
    /// Lets a new worker empty a queue, and tells how fast pushes of one kind were once they had begun.
    ///
    /// - Parameters:
    ///   - label: part of the labels of the pushes that count, which are those that are well.
    ///   - eventCount: how many of them there are.
    /// - Returns: how many there were in a second.
    /// - Throws: `BenchmarkFailure` if they do not end in time.
    func emptyQueue(_ label: String, eventCount: Int) async throws -> Double {
        let worker = try WorkerProcess(in: temporary)
        func accepted() async throws -> Int { try await worker.metric("apus_pushes_total", label) }
        try await worker.wait("the first push") { try await accepted() > 0 }
        let clock = ContinuousClock()
        let (start, before) = (clock.now, try await accepted())
        try await worker.wait("all pushes that are well") { try await accepted() >= eventCount }
        let seconds = start.duration(to: clock.now).seconds
        await worker.drain(seconds: 10)
        return Double(eventCount - before) / seconds
    }

    /// Starts a worker on a full queue, waits until that many pushes were accepted, and ends it.
    ///
    /// - Parameters:
    ///   - pushes: how many.
    ///   - label: part of the labels of the pushes that count; those that were accepted by default.
    ///   - look: inspects the worker after the last push.
    /// - Returns: their cost.
    /// - Throws: `BenchmarkFailure` if they do not end in time.
    func runWorker(
        pushes: Int, ended label: String = #"outcome="accepted""#, look: (WorkerProcess) throws -> Void = { _ in }
    ) async throws -> LoadTool.Figures {
        let worker = try WorkerProcess(in: temporary)
        func ended() async throws -> Int { try await worker.metric("apus_pushes_total", label) }
        let clock = ContinuousClock()
        try await worker.wait("the first push") { try await ended() >= 1 }
        let start = clock.now
        let cpu = ProcessorTime.microseconds(ofProcess: worker.command.identifier)
        let first = try await ended()
        try await worker.wait("\(pushes) pushes") { try await ended() >= pushes }
        let elapsed = start.duration(to: clock.now)
        let spent = ProcessorTime.microseconds(ofProcess: worker.command.identifier) - cpu
        try look(worker)
        await worker.drain(seconds: 10)
        guard pushes > first || Scale.isSmall else {
            throw BenchmarkFailure(description: "all \(pushes) pushes were over before the first look")
        }
        let count = Double(max(1, pushes - first))
        return LoadTool.Figures(perSecond: count / elapsed.seconds, microseconds: spent / count)
    }
}
