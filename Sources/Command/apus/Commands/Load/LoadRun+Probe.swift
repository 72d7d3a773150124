import ChangeQueue
import EventLoop
import LoadGenerator
import WorkerConfiguration

extension LoadRun {
    /// How long probes are sent until one reaches the push server, in seconds.
    private static let probeSeconds = 30.0

    /// Waits for a worker, then lets one push of an unregistered token prove that its pushes come here.
    ///
    /// - Throws: `CommandFailure` (`unavailable`) if there is no worker, or its pushes go elsewhere.
    func awaitWorker() async throws {
        let deadline = MonotonicClock.nowNanoseconds() + UInt64(options.waitSeconds * 1_000_000_000)
        var isAnnounced = false
        while try await depths.reading().consumers == 0 {
            guard MonotonicClock.nowNanoseconds() < deadline, !hasStopped else {
                throw CommandFailure(
                    .unavailable,
                    "no worker consumes \(target.broker.names.work): start one with 'apus run' and this configuration")
            }
            if !isAnnounced {
                StandardError.line(
                    "waiting for a worker: start 'apus run' with this configuration in another terminal")
                isAnnounced = true
            }
            try await Task.sleep(nanoseconds: 250_000_000)
        }
        try await probe()
    }

    /// Publishes probes until one has come: the first may wait in a retry queue, because the worker found no push
    /// service before.
    private func probe() async throws {
        let plan = LoadPlan(profile: .oneToOne, deviceCount: 1, audience: 1, hasDatasets: false, seed: 0)
        let names = LoadNames(
            startedAtSeconds: WallClock.nowMilliseconds() / 1_000, random: .random(in: 0 ... .max))
        let start = Self.start()
        let books = Self.books(plan, names, startMicroseconds: start.microseconds, warmUpSeconds: 0)
        record.read { books.record($0) }
        let publisher = try self.publisher()
        publisher.start(handler: books)
        let writer = LoadEventWriter(
            plan: plan, names: names, app: target.app.name, pool: "", addressing: .token(LoadNames.token(0)),
            bodyBytes: 0)
        let pacer = LoadPacer(
            books: books, writer: writer, publishers: [publisher], exchange: target.broker.names.changes,
            openMaximum: 1)
        let curve = RateCurve(.steady, perSecond: 0.5, seconds: Self.probeSeconds)
        async let sending = loop.run {
            pacer.run(
                ArrivalClock(curve, spacing: .constant, seed: 0), countMaximum: .max, graceSeconds: 1, start: start)
        }
        let deadline = start.nanoseconds + UInt64(Self.probeSeconds * 1_000_000_000)
        while books.totals.pushes == 0, books.totals.returned == 0, !hasStopped,
            MonotonicClock.nowNanoseconds() < deadline
        {
            try? await Task.sleep(nanoseconds: 20_000_000)
        }
        pacer.stop()
        _ = try await sending
        _ = await publisher.close(deadlineSeconds: 1)
        guard books.totals.returned == 0 else {
            if let missing = try? await target.broker.missingRightToPublish() {
                throw CommandFailure(.noPermission, missing)
            }
            throw CommandFailure(.unavailable, "no queue takes events; run `apus topology apply`")
        }
        guard books.totals.pushes > 0 || hasStopped else {
            throw CommandFailure(
                .unavailable,
                "a worker consumes \(target.broker.names.work), but its push did not come to \(target.endpoint) within "
                    + "\(Int(Self.probeSeconds)) seconds. Does it run with this configuration? It reads ca_file when "
                    + "it starts: start it again if the file is new. Its log says more")
        }
    }
}
