import ChangeQueue
import EventLoop
import LoadGenerator
import Metrics
import StructuredLogging
import Synchronization
import WorkerConfiguration

/// Loads a deployment: the connections that all runs of one command share, and the runs.
final class LoadRun: Sendable {
    /// How much of the last second may be missing for it to have a sample, in nanoseconds.
    private static let missingNanosecondsMaximum: UInt64 = 700_000_000
    /// How often the end of a run looks for the last pushes, in nanoseconds.
    private static let completionNanoseconds: UInt64 = 100_000_000

    let options: LoadOptions
    let target: LoadTarget
    private let plan: LoadPlan
    private let addressing: LoadEventWriter.Addressing
    let record: LoadRecord
    let depths: QueueDepthReader
    let loop: EventLoop
    private let isStopped = Atomic<Bool>(false)
    private let pacer = Mutex<LoadPacer?>(nil)

    init(
        _ options: LoadOptions, _ target: LoadTarget, plan: LoadPlan, addressing: LoadEventWriter.Addressing,
        record: LoadRecord, depths: QueueDepthReader
    ) throws {
        self.options = options
        self.target = target
        self.plan = plan
        self.addressing = addressing
        self.record = record
        self.depths = depths
        loop = try EventLoop(name: "load-clock")
    }

    /// Ends the run that is under way: nothing more is published, and what was published is still waited for.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        pacer.withLock { $0 }?.stop()
    }

    /// Whether the user has ended the run.
    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Ends the thread that publishes.
    func close() { loop.stopAndJoin() }

    // MARK: A run

    /// Publishes a curve, waits for its pushes, and compares.
    ///
    /// - Parameters:
    ///   - curve: the rate after the warm-up.
    ///   - isHopeless: asked every second with the seconds so far; true ends the run at once.
    /// - Returns: the result.
    /// - Throws: the loops' errors, if the system has no threads.
    func measure(_ curve: RateCurve, isHopeless: @Sendable ([LoadSample]) -> Bool = { _ in false }) async throws
        -> LoadResult
    {
        let before = try await depths.reading().waiting
        let start = Self.start()
        let names = LoadNames(
            startedAtSeconds: start.microseconds / 1_000_000, random: .random(in: 0 ... .max))
        let books = Self.books(
            plan, names, startMicroseconds: start.microseconds, warmUpSeconds: options.warmUpSeconds)
        record.read { books.record($0) }
        let publishers = try (0..<options.producerCount).map { _ in try publisher() }
        for publisher in publishers { publisher.start(handler: books) }
        let writer = LoadEventWriter(
            plan: plan, names: names, app: target.app.name, pool: target.app.identityPools.first ?? "",
            addressing: addressing, bodyBytes: options.bodyBytes)
        let pacer = LoadPacer(
            books: books, writer: writer, publishers: publishers, exchange: target.broker.names.changes,
            openMaximum: options.openMaximum)
        self.pacer.withLock { $0 = pacer }
        if hasStopped { pacer.stop() }
        let whole = curve.warmedUp(seconds: options.warmUpSeconds)
        let clock = ArrivalClock(whole, spacing: options.spacing, seed: options.seed)
        async let left = loop.run { [options] in
            pacer.run(
                clock, countMaximum: options.eventsMaximum, graceSeconds: options.drainSeconds, start: start)
        }
        let wasHopeless = await watch(books, pacer, from: start.nanoseconds, seconds: whole.seconds, isHopeless)
        let unpublished = try await left
        for publisher in publishers { _ = await publisher.close(deadlineSeconds: options.drainSeconds) }
        let isWhole = whole.eventCount <= Double(options.eventsMaximum) + 1
        return LoadResult(
            books.book,
            settings: options.settings(
                perSecond: curve.eventCount / curve.seconds, seconds: curve.seconds, deviceCount: plan.deviceCount),
            measuredSeconds: isWhole && !hasStopped && !wasHopeless ? curve.seconds : nil,
            intendedPerSecond: curve.eventCount / max(0.001, curve.seconds), unpublished: unpublished,
            warnings: warnings(books, pacer, start, waitingBefore: before))
    }

    /// Takes a sample every second until the last push has come, or none has come for long.
    private func watch(
        _ books: LoadBooks, _ pacer: LoadPacer, from startNanoseconds: UInt64, seconds: Double,
        _ isHopeless: @Sendable ([LoadSample]) -> Bool
    ) async -> Bool {
        var display = LoadDisplay()
        var samples: [LoadSample] = []
        var next = startNanoseconds
        var quiet = (pushes: 0, sinceSeconds: 0.0)
        var isAtEnd = false
        while true {
            next += 1_000_000_000
            let isComplete = isAtEnd ? await self.isComplete(books, before: next) : false
            let now = MonotonicClock.nowNanoseconds()
            // So little is left of a steady run that its rates would only look as if they fell.
            if isComplete, now + Self.missingNanosecondsMaximum < next { return false }
            if next > now, !isComplete { try? await Task.sleep(nanoseconds: next - now) }
            let sample = books.sample(try? await depths.reading())
            samples.append(sample)
            let totals = books.totals
            display.show(sample, totals, of: seconds)
            if totals.pushes != quiet.pushes || !isAtEnd { quiet = (totals.pushes, sample.seconds) }
            isAtEnd = pacer.hasEnded
            if isComplete { return false }
            if isAtEnd, sample.seconds - quiet.sinceSeconds >= options.drainSeconds { return false }
            if !isAtEnd, isHopeless(samples) {
                pacer.stop()
                return true
            }
        }
    }

    /// Waits until nothing is missing any more; false if a moment comes before.
    private func isComplete(_ books: LoadBooks, before nanoseconds: UInt64) async -> Bool {
        while MonotonicClock.nowNanoseconds() < nanoseconds {
            if books.isComplete { return true }
            try? await Task.sleep(nanoseconds: Self.completionNanoseconds)
        }
        return false
    }

    private func warnings(
        _ books: LoadBooks, _ pacer: LoadPacer, _ start: (nanoseconds: UInt64, microseconds: Int64), waitingBefore: Int
    ) -> [String] {
        var warnings: [String] = []
        if waitingBefore > 0 {
            warnings.append("the queues held \(waitingBefore) messages at the start, which came first")
        }
        if pacer.hasWaitedForConfirms {
            warnings.append(
                "events were late because \(options.openMaximum) others awaited RabbitMQ's confirm (--confirm)")
        }
        if let interruption = books.interruption { warnings.append("publishing was interrupted: \(interruption)") }
        let wall = WallClock.nowMicroseconds() - start.microseconds
        let monotonic = Int64((MonotonicClock.nowNanoseconds() - start.nanoseconds) / 1_000)
        if abs(wall - monotonic) > 2_000 {
            warnings.append(
                "the clock of the machine was set by \((wall - monotonic) / 1_000) ms during the run, "
                    + "so latencies may be wrong by as much")
        }
        let queues = books.book.samples.compactMap(\.queue)
        if let first = queues.first, let last = queues.last, last.deadLetters > first.deadLetters {
            warnings.append(
                "\(last.deadLetters - first.deadLetters) messages became dead letters during the run; "
                    + "'apus dead-letters list' says why")
        }
        let idleSeconds = queues.count { $0.consumers == 0 }
        if idleSeconds > 0 { warnings.append("no worker consumed for about \(idleSeconds) seconds") }
        if hasStopped { warnings.append("the run was ended early") }
        return warnings
    }

    // MARK: Parts of a run

    static func books(
        _ plan: LoadPlan, _ names: LoadNames, startMicroseconds: Int64, warmUpSeconds: Double
    ) -> LoadBooks {
        LoadBooks(
            LoadBook(plan: plan, startMicroseconds: startMicroseconds, warmUpSeconds: warmUpSeconds),
            RecordReader(names: names, eventsMaximum: LoadOptions.eventsMaximum))
    }

    /// A moment a little ahead, when the publishers have connected, on both clocks of the system.
    static func start() -> (nanoseconds: UInt64, microseconds: Int64) {
        (MonotonicClock.nowNanoseconds() + 200_000_000, WallClock.nowMicroseconds() + 200_000)
    }

    func publisher() throws -> ConfirmedPublisher {
        try ConfirmedPublisher(configuration: target.broker, logger: .silent, metrics: MetricsRegistry())
    }

    // MARK: Between

    /// Waits until the queues are empty, up to a minute, so that a run does not begin with the rest of the last.
    func awaitEmptyQueues() async throws {
        let deadline = MonotonicClock.nowNanoseconds() + 60_000_000_000
        while MonotonicClock.nowNanoseconds() < deadline, !hasStopped {
            if try await depths.reading().waiting == 0 { return }
            try await Task.sleep(nanoseconds: 250_000_000)
        }
    }
}

extension QueueDepthReader {
    /// Reads the depths for a sample.
    func reading() async throws -> LoadSample.Queue {
        do {
            let depths = try await read()
            if let refusal = depths.refusal { throw CommandFailure(.noPermission, refusal) }
            return LoadSample.Queue(
                work: depths.work, fanOut: depths.fanOut, retry: depths.retry, deadLetters: depths.deadLetters,
                consumers: depths.consumers)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
