import Foundation
import PushTestKit

/// One worker on its own processor and a full queue, from its start to its last push.
struct PeerRun {
    /// The processor that only the worker has; all else is on the other.
    static let workerProcessor = 0
    static let otherProcessor = 1
    private static let lookSeconds = Scale.of(0.05, small: 0.01)
    private static let secondsMaximum = 120.0

    /// The performance of a worker while its queue was full.
    struct Figures {
        var perSecond: Double
        var microseconds: Double
        /// How much of its processor it used, in percent.
        var percent: Double
        /// How much of the other processor was used, by all, in percent.
        var otherPercent: Double
        var mebibytes: Double
    }

    private struct Sample {
        var accepted: Int
        var spentMicroseconds: Double
        var otherMicroseconds: Double
        var time = ContinuousClock.now
    }

    let bench: Workbench
    let broker: PrivateRabbitMQ
    let simulator: SimulatorProcess
    let worker: PeerWorker
    /// How many pushes it has to make.
    let pushes: Int

    /// Runs the worker to its last push and acknowledgement, and ends it.
    ///
    /// - Returns: the performance between half of the pushes and the last look before all were made.
    /// - Throws: `BenchmarkFailure` with the worker's output if it ends or is stuck.
    func measure() async throws -> Figures {
        let before = try await simulator.accepted()
        let process = try worker.start(on: bench, processor: Self.workerProcessor)
        let start = ContinuousClock.now
        var first: Sample?
        var last: Sample?
        var mebibytes = 0.0
        while true {
            try await Pause.seconds(Self.lookSeconds)
            guard !process.hasEnded, start.duration(to: .now).seconds < Self.secondsMaximum else {
                let done = (last?.accepted ?? before) - before
                throw BenchmarkFailure(
                    description: """
                        the worker in \(worker.rawValue) did \(done) of \(pushes) pushes and \
                        \(process.hasEnded ? "ended" : "got stuck"): \(process.output)\(process.errors.prefix(2_000))
                        """)
            }
            let sample = Sample(
                accepted: try await simulator.accepted(),
                spentMicroseconds: ProcessorTime.microseconds(ofProcess: process.identifier),
                otherMicroseconds: ProcessorTime.machineMicroseconds(processor: Self.otherProcessor))
            if first == nil, sample.accepted - before >= pushes / 2 { first = sample }
            let isOver = sample.accepted - before >= pushes
            // At the last look the worker may have been idle for a while.
            if !isOver || last?.accepted ?? 0 <= first?.accepted ?? 0 { last = sample }
            if isOver { break }
            // One that has ended has no memory; the next look says so.
            mebibytes = (try? ProcessStatus.kibibytes("VmRSS", of: process.identifier)).map { Double($0) / 1_024 } ?? 0
        }
        // An event without acknowledgement at the worker's end would go to the next worker.
        try await eventually("the acknowledgement of all events by \(worker.rawValue)", equals: 0, within: .seconds(60))
        {
            try await broker.messageCount(queue: "apus.work")
        }
        await process.stop()
        guard let first, let last else { throw BenchmarkFailure(description: "no push was seen") }
        return Self.figures(from: first, to: last, mebibytes: mebibytes)
    }

    private static func figures(from first: Sample, to last: Sample, mebibytes: Double) -> Figures {
        let count = Double(max(1, last.accepted - first.accepted))
        let elapsed = max(first.time.duration(to: last.time).seconds, 1e-6)
        let spent = last.spentMicroseconds - first.spentMicroseconds
        return Figures(
            perSecond: count / elapsed, microseconds: spent / count, percent: spent / elapsed / 10_000,
            otherPercent: (last.otherMicroseconds - first.otherMicroseconds) / elapsed / 10_000, mebibytes: mebibytes)
    }
}
