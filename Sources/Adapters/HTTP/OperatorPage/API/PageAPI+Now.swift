import Backoffice
import DispatchCore
import EventLoop
import HTTPServer
import JSON
import RegistryCore
import Synchronization

/// The current state: all processes together, and each with the age of its report.
extension PageAPI {
    private static let fanOutsCount = 10
    /// How long a count of the dead letters is good for, because counting reads the whole index.
    private static let countNanoseconds: UInt64 = 15 * 1_000_000_000

    /// `GET now`.
    func now() async throws -> HTTPResponse {
        let now = nowMilliseconds
        let reading = await queues?.reading()
        let known = knownCount()
        let (deployment, fanOuts, collectedCount, pauses) = try await store.run { registry in
            (
                DeploymentStatus(try registry.workerReports(), nowMilliseconds: now),
                try registry.fanOuts(before: nil, limit: Self.fanOutsCount),
                try known ?? registry.deadLetterCounts(matching: DeadLetterFilter()).reduce(0) { $0 + $1.count },
                try registry.pauses()
            )
        }
        if known == nil { collected.withLock { $0 = (collectedCount, MonotonicClock.nowNanoseconds()) } }
        return PageResponse.object { writer in
            writer.member("nowMilliseconds", now)
            writer.member("intervalSeconds", WorkerReportRules.intervalMilliseconds / 1_000)
            deployment.writeTotals(to: &writer)
            if let reading { writer.object("queues") { reading.write(to: &$0) } }
            writer.object("deadLetters") { writer in
                writer.member("collected", collectedCount)
                writer.member("waiting", reading?.queues?.deadLettersCount)
            }
            writer.array("fanOuts", fanOuts) { $1.write(to: &$0, nowMilliseconds: now) }
            writer.array("workers", deployment.workers) { $1.write(to: &$0) }
            let apps = deployment.apps(configured: configuration.appNames).sortedByTrouble { pauses.includes($0) }
            writer.array("apps", apps) { writer, app in
                app.write(to: &writer)
                writer.member("paused", pauses.includes(app.name))
            }
            pauses.write(to: &writer)
            writer.array("problems", texts: [reading?.problem].compactMap { $0.map { "RabbitMQ: \($0)" } })
        }
    }

    private func knownCount() -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        return collected.withLock { known in
            known.flatMap { now < $0.readNanoseconds + Self.countNanoseconds ? $0.count : nil }
        }
    }
}

extension PushCounts {
    /// The outcomes of which the page shows rates.
    private static let outcomes: Set<String> = [
        "accepted", "tokenDead", "expired", "coalesced", "retried", "deadLettered",
    ]

    /// Writes the outcomes as pushes a second.
    func writeRates(seconds: Double, to writer: inout JSONWriter) {
        for (name, count) in Self.names where Self.outcomes.contains("\(name)") {
            writer.member(name, rounded: seconds > 0 ? Double(self[keyPath: count]) / seconds : 0)
        }
    }

    /// Writes the counts.
    func write(to writer: inout JSONWriter) {
        for (name, count) in Self.names { writer.member(name, self[keyPath: count]) }
    }
}

extension LagHistogram {
    func write(seconds: Double, to writer: inout JSONWriter) {
        writer.member("windowSeconds", rounded: seconds)
        writer.member("count", count)
        writeQuantiles(to: &writer)
    }

    func writeQuantiles(to writer: inout JSONWriter) {
        writer.member("p50Seconds", rounded: quantile(0.5))
        writer.member("p99Seconds", rounded: quantile(0.99))
    }
}

extension DeploymentStatus {
    /// An app over all processes.
    struct App {
        let name: String
        var problems: [(worker: String, reason: String)] = []
        var recent = PushCounts()
        var recentSeconds = 0.0
        var inFlight = 0
        var openConnections = 0
        /// How many processes say how it is.
        var workersCount = 0

        func write(to writer: inout JSONWriter) {
            writer.member("name", name)
            writer.member("state", workersCount == 0 ? "unknown" : problems.isEmpty ? "ok" : "failing")
            writer.array("reasons", problems) { writer, problem in
                writer.member("worker", problem.worker)
                writer.member("reason", problem.reason)
            }
            writer.object("rates") { recent.writeRates(seconds: recentSeconds, to: &$0) }
            writer.member("inFlight", inFlight)
            writer.member("connections", openConnections)
        }
    }

    /// The apps of the configuration, and those that other processes have.
    func apps(configured: [String]) -> [App] {
        var apps = configured.map { App(name: $0) }
        var places = Dictionary(apps.enumerated().map { ($1.name, $0) }) { first, _ in first }
        for worker in freshWorkers {
            for app in worker.status.apps where app.name != "unknown" || app.totals.matched > 0 {
                let index = places[app.name] ?? apps.count
                if index == apps.count {
                    apps.append(App(name: app.name))
                    places[app.name] = index
                }
                apps[index].problems += app.problems.map { (worker.identifier, $0) }
                apps[index].recent.add(app.recent)
                apps[index].recentSeconds = max(apps[index].recentSeconds, worker.recentSeconds)
                apps[index].inFlight += app.totals.inFlight
                apps[index].openConnections += app.openConnections
                apps[index].workersCount += 1
            }
        }
        return apps
    }

    fileprivate func writeTotals(to writer: inout JSONWriter) {
        let seconds = Double(WorkerReportRules.intervalMilliseconds) / 1_000
        writer.array("series", intervals) { writer, interval in
            writer.member("atMilliseconds", interval.endMilliseconds)
            interval.counts.writeRates(seconds: seconds, to: &writer)
            interval.lag.writeQuantiles(to: &writer)
        }
        let recent = recent
        writer.member("rateWindowSeconds", rounded: recent.seconds)
        writer.object("rates") { recent.counts.writeRates(seconds: recent.seconds, to: &$0) }
        let lag = lag
        writer.object("lag") { lag.histogram.write(seconds: lag.seconds, to: &$0) }
        let totals = freshWorkers.flatMap(\.status.apps).reduce(into: PushCounts()) { $0.add($1.totals) }
        writer.object("totals") { totals.write(to: &$0) }
    }
}

extension DeploymentStatus.Worker {
    /// How many seconds its recent counts are of.
    var recentSeconds: Double {
        let count = min(status.samples.count, WorkerStatus.recentSamplesCount)
        return Double(count) * Double(WorkerReportRules.intervalMilliseconds) / 1_000
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("id", identifier)
        writer.member("host", status.host)
        writer.member("processId", status.processIdentifier)
        writer.member("kind", status.kind.rawValue)
        writer.member("version", status.version)
        writer.member("startedAtMilliseconds", status.startedAtMilliseconds)
        writer.member("reportedAtMilliseconds", reportedAtMilliseconds)
        writer.member("ageSeconds", rounded: Double(ageMilliseconds) / 1_000)
        writer.member("state", isStale ? "stale" : status.isReady ? "ready" : "failing")
        writer.array("readiness", status.checks) { writer, check in
            writer.member("name", check.name)
            writer.member("ok", check.failure == nil)
            if check.failure != nil { writer.member("onlyDegrades", check.onlyDegrades) }
            writer.member("reason", check.failure)
        }
        writer.member("inFlight", status.apps.reduce(0) { $0 + $1.totals.inFlight })
        writer.member("unsettledDeliveries", status.unsettledDeliveries)
        writer.member("consumerPaused", status.isConsumerPaused)
        let recent = status.apps.reduce(into: PushCounts()) { $0.add($1.recent) }
        writer.object("rates") { recent.writeRates(seconds: recentSeconds, to: &$0) }
        let last = status.samples.suffix(DeploymentStatus.lagIntervalsCount)
        let lag = last.reduce(into: LagHistogram()) { $0.add($1.lagCounts, boundsSeconds: status.lagBoundsSeconds) }
        writer.object("lag") { writer in
            lag.write(
                seconds: Double(last.count) * Double(WorkerReportRules.intervalMilliseconds) / 1_000, to: &writer)
        }
        writer.array("connections", status.apps.filter { $0.openConnections > 0 }) { writer, app in
            writer.member("app", app.name)
            writer.member("open", app.openConnections)
            writer.member("streamsInUse", app.openStreams)
        }
    }
}

extension PageQueuesCache.Reading {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("status", queues == nil ? "unavailable" : "ok")
        writer.member("reason", problem ?? queues?.refusal)
        writer.member("atMilliseconds", atMilliseconds)
        guard let queues else { return }
        writer.member("source", queues.isFromManagement ? "management" : "declare")
        writer.array("list", queues.queues) { writer, queue in
            writer.member("name", queue.name)
            writer.member("kind", queue.kind.rawValue)
            writer.member("ready", queue.readyCount)
            writer.member("consumers", queue.consumerCount)
            writer.member("unacknowledged", queue.unacknowledgedCount)
            writer.member("oldestSeconds", rounded: queue.oldestSeconds)
            writer.member("delaySeconds", rounded: queue.delayMilliseconds.map { Double($0) / 1_000 })
        }
    }
}
