import Essentials
import PushTestKit
import Testing
import Tracing

@testable import TraceExport

@Suite("The decisions of the exporter")
struct ExportMachineTests {
    private static func time(_ milliseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    private static func machine(queue: Int = 10, batch: Int = 4) -> ExportMachine {
        var limits = TraceExportLimits()
        limits.queueMaximum = queue
        limits.batchMaximum = batch
        return ExportMachine(limits)
    }

    private var random = SeededGenerator(seed: 1)

    @Test("What finds no room is dropped, and the rest is kept in its order")
    func full() throws {
        var machine = Self.machine()
        #expect(machine.submitted(try SampleSpans.spans(7), at: Self.time(0)) == (0, true))
        #expect(machine.submitted(try SampleSpans.spans(5, from: 8), at: Self.time(1)) == (2, false))
        #expect(machine.submitted(try SampleSpans.spans(1), at: Self.time(2)) == (1, false))
        #expect(machine.count == 10)
        #expect(machine.nextStep(at: Self.time(3)).names == (1...4).map { "span \($0)" })
        // The batch under way has left the queue.
        #expect(machine.submitted(try SampleSpans.spans(5, from: 20), at: Self.time(4)) == (1, false))
        #expect(machine.count == 14)
    }

    @Test("A batch goes out when it is full, or when its first span has waited for the delay")
    func delay() throws {
        var machine = Self.machine()
        #expect(machine.submitted(try SampleSpans.spans(1), at: Self.time(0)) == (0, true))
        #expect(machine.nextStep(at: Self.time(0)).time == Self.time(5_000))
        #expect(machine.submitted(try SampleSpans.spans(2, from: 2), at: Self.time(4_000)) == (0, false))
        #expect(machine.nextStep(at: Self.time(4_999)).time == Self.time(5_000))
        #expect(machine.nextStep(at: Self.time(5_000)).names.count == 3)
        var full = Self.machine()
        _ = full.submitted(try SampleSpans.spans(3), at: Self.time(0))
        #expect(full.submitted(try SampleSpans.spans(1, from: 4), at: Self.time(1)) == (0, true))
        #expect(full.nextStep(at: Self.time(1)).names.count == 4)
    }

    @Test("One batch is under way at a time, and the next follows at once if it is full")
    mutating func oneAtATime() throws {
        var machine = Self.machine()
        _ = machine.submitted(try SampleSpans.spans(9), at: Self.time(0))
        #expect(machine.nextStep(at: Self.time(0)).names.first == "span 1")
        #expect(machine.nextStep(at: Self.time(1)).isRest)
        let ending = machine.attemptEnded(
            .taken(rejectedSpanCount: 1, reason: ""), retryAfterSeconds: nil, at: Self.time(2), using: &random)
        #expect(ending == .init(exportedCount: 3, lostCount: 1, loss: .rejected))
        #expect(machine.nextStep(at: Self.time(2)).names.first == "span 5")
        let refused = machine.attemptEnded(
            .refused(reason: ""), retryAfterSeconds: 9, at: Self.time(3), using: &random)
        #expect(refused == .init(lostCount: 4, loss: .refused))
        #expect(machine.nextStep(at: Self.time(3)).time == Self.time(5_002))
    }

    @Test("A collector that asks for a wait gets it, and the batch is sent again whole")
    mutating func retryAfter() throws {
        var machine = Self.machine()
        _ = machine.submitted(try SampleSpans.spans(4), at: Self.time(0))
        let first = machine.nextStep(at: Self.time(0)).names
        let ending = machine.attemptEnded(
            .retryable(reason: ""), retryAfterSeconds: 7, at: Self.time(100), using: &random)
        #expect(ending == .init())
        #expect(machine.nextStep(at: Self.time(7_099)).time == Self.time(7_100))
        #expect(machine.nextStep(at: Self.time(7_100)).names == first)
        // A longer wait than the batch may live drops it; the next batch waits all the same.
        _ = machine.submitted(try SampleSpans.spans(4, from: 5), at: Self.time(7_200))
        let lost = machine.attemptEnded(
            .retryable(reason: ""), retryAfterSeconds: 60, at: Self.time(7_300), using: &random)
        #expect(lost == .init(lostCount: 4, loss: .unavailable))
        #expect(machine.nextStep(at: Self.time(7_301)).time == Self.time(67_300))
        #expect(machine.nextStep(at: Self.time(67_300)).names.first == "span 5")
        // The wait is bounded, also for a header of days.
        _ = machine.attemptEnded(.retryable(reason: ""), retryAfterSeconds: .max, at: Self.time(67_300), using: &random)
        _ = machine.submitted(try SampleSpans.spans(4, from: 9), at: Self.time(67_300))
        #expect(machine.nextStep(at: Self.time(67_301)).time == Self.time(667_300))
    }

    @Test("Waits grow, are random, and end with the life of the batch")
    mutating func backOff() throws {
        var machine = Self.machine()
        _ = machine.submitted(try SampleSpans.spans(4), at: Self.time(0))
        var now = Self.time(0)
        var waits: [UInt64] = []
        var lost = 0
        while lost == 0 {
            switch machine.nextStep(at: now) {
            case .send:
                lost =
                    machine.attemptEnded(
                        .retryable(reason: ""), retryAfterSeconds: nil, at: now, using: &random
                    ).lostCount
            case .wait(let until):
                waits.append(until.nanoseconds(since: now))
                now = until
            case .rest: lost = -1
            }
        }
        #expect(lost == 4)
        #expect(now.nanoseconds(since: Self.time(0)) <= 30_000_000_000)
        for (failures, wait) in zip(1..., waits) { #expect(wait <= 1_000_000_000 << UInt64(failures - 1)) }
        #expect(Set(waits).count == waits.count && waits.count >= 3)
    }

    @Test("At the end what waits goes out at once, nothing more is taken, and no wait leads beyond the end")
    mutating func stop() throws {
        var machine = Self.machine()
        _ = machine.submitted(try SampleSpans.spans(6), at: Self.time(0))
        machine.stopBegan(until: Self.time(5_000))
        #expect(machine.submitted(try SampleSpans.spans(3), at: Self.time(1)) == (3, false))
        #expect(machine.nextStep(at: Self.time(1)).names.count == 4)
        _ = machine.attemptEnded(
            .taken(rejectedSpanCount: 0, reason: ""), retryAfterSeconds: nil, at: Self.time(2), using: &random)
        #expect(machine.nextStep(at: Self.time(2)).names.count == 2)
        let lost = machine.attemptEnded(
            .retryable(reason: ""), retryAfterSeconds: 6, at: Self.time(3), using: &random)
        #expect(lost == .init(lostCount: 2, loss: .unavailable))
        #expect(machine.count == 0 && machine.stopped() == 0)
    }

    @Test(
        "Every span is exported, dropped once, or still there, whatever happens, and the bounds hold",
        arguments: 0..<30)
    func invariant(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = Self.machine(queue: 50, batch: 16)
        var (submitted, ended, under) = (0, 0, 0)
        var milliseconds: UInt64 = 0
        for _ in 0..<2_000 {
            milliseconds += UInt64.random(in: 0...400, using: &random)
            let now = Self.time(milliseconds)
            if Bool.random(using: &random) {
                let spans = try SampleSpans.spans(Int.random(in: 0...30, using: &random), from: 1)
                submitted += spans.count
                ended += machine.submitted(spans, at: now).droppedCount
            }
            if under > 0, Bool.random(using: &random) {
                let answers: [TraceExportAnswer] = [
                    .taken(rejectedSpanCount: Int.random(in: 0...40, using: &random), reason: ""),
                    .retryable(reason: ""), .refused(reason: ""),
                ]
                let answer = answers[Int.random(in: 0...2, using: &random)]
                let seconds = Bool.random(using: &random) ? Int.random(in: -1...50, using: &random) : nil
                let ending = machine.attemptEnded(answer, retryAfterSeconds: seconds, at: now, using: &random)
                ended += ending.exportedCount + ending.lostCount
                under = 0
            }
            let names = machine.nextStep(at: now).names
            if !names.isEmpty {
                #expect(under == 0 && names.count <= 16)
                under = names.count
            }
            #expect(machine.count <= 66 && submitted == ended + machine.count)
        }
        let left = machine.count
        #expect(submitted > 1_000 && machine.stopped() == left && machine.count == 0)
    }
}

extension ExportMachine.Step {
    fileprivate var names: [String] { if case .send(let spans) = self { spans.map(\.name) } else { [] } }
    fileprivate var time: MonotonicTime? { if case .wait(let time) = self { time } else { nil } }
    fileprivate var isRest: Bool { if case .rest = self { true } else { false } }
}
