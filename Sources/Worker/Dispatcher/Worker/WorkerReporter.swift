import AdminServer
import Backoffice
import EventLoop
import Glibc
import RegistryCore
import StructuredLogging
import Synchronization
import WorkerConfiguration

/// Writes the report of this process to the registry every few seconds, off the way of events.
///
/// A report that cannot be written is left out, and the next one says the same and more.
final class WorkerReporter: Sendable {
    /// Where reports are kept.
    struct Store: Sendable {
        /// Keeps a report.
        var save: @Sendable (WorkerReport) async throws -> Void
        /// Forgets the report of a process.
        var remove: @Sendable (String) async throws -> Void
    }

    /// Fills in the status of a process, apart from samples, and returns the counts of its lag by bucket.
    typealias Observation = @Sendable (inout WorkerStatus) async throws -> [Int]

    /// How long the end of a process waits for a registry that does not answer.
    private static let stopDuration = Duration.seconds(2)

    /// The name of this process among all that use the registry.
    let identifier: String
    private let template: WorkerStatus
    private let store: Store
    private let observe: Observation
    private let logger: Logger
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(
        kind: WorkerStatus.Kind, identifier: String, version: String, store: Store, logger: Logger,
        observe: @escaping Observation
    ) {
        self.identifier = identifier
        template = WorkerStatus(
            kind: kind, host: Self.hostName, processIdentifier: Int(getpid()), version: version,
            startedAtMilliseconds: WallClock.nowMilliseconds())
        self.store = store
        self.observe = observe
        self.logger = logger
    }

    /// Makes a name for this process.
    static func makeIdentifier() -> String {
        // The number of a process says nothing in a container, where it is often the same in each.
        let suffix = String(UInt16.random(in: .min ... .max), radix: 16)
        return "\(hostName)-\(getpid())-\(suffix)"
    }

    /// Begins to report.
    func start() {
        let reporting = Task { [weak self] in
            var recorder = StatusRecorder()
            var isFailing = false
            var wait: Int64 = 0
            while (try? await Task.sleep(for: .milliseconds(wait))) != nil {
                guard let self else { return }
                await self.report(&recorder, &isFailing)
                wait = StatusRecorder.millisecondsToNextSample(at: WallClock.nowMilliseconds())
            }
        }
        task.withLock { $0 = reporting }
    }

    /// Reports no more, and takes the report back, unless the registry does not answer within two seconds.
    func stop() async {
        let reporting = task.withLock { task in
            defer { task = nil }
            return task
        }
        guard let reporting else { return }
        reporting.cancel()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let timer = Task {
            try await Task.sleep(for: Self.stopDuration)
            end.finish()
        }
        Task { [store, identifier] in
            await reporting.value
            try? await store.remove(identifier)
            end.finish()
        }
        for await _ in ends {}
        timer.cancel()
    }

    private func report(_ recorder: inout StatusRecorder, _ isFailing: inout Bool) async {
        var status = template
        do {
            let lagCounts = try await observe(&status)
            let now = WallClock.nowMilliseconds()
            recorder.record(&status, lagCounts: lagCounts, nowMilliseconds: now)
            try await store.save(
                WorkerReport(identifier: identifier, reportedAtMilliseconds: now, content: status.json))
            isFailing = false
        } catch {
            // Logged once for each outage.
            if !isFailing { logger.log(.warning, "worker.report.failed", [.field("reason", "\(error)")]) }
            isFailing = true
        }
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Configuration {
    /// Makes the reports about a service of the registry's API, with a connection of its own to the store.
    ///
    /// - Parameters:
    ///   - service: gives the service at each report.
    ///   - identifier: the name of this process.
    ///   - version: the version of the program.
    ///   - logger: where a report that cannot be written is logged.
    /// - Returns: the reporter, to be started and stopped.
    /// - Throws: `WorkerError` if there is no thread.
    func registryReporter(
        of service: @escaping @Sendable () -> RegistryService, identifier: String, version: String, logger: Logger
    ) throws(WorkerError) -> WorkerReporter {
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: "reports")
        } catch {
            throw WorkerError(.unavailable, "reports cannot be written: \(error)")
        }
        let registry = registry
        let connection = LoopBound(
            ReportConnection { () throws(RegistryError) in try registry.open(mode: .readWrite) }, to: loop)
        let store = WorkerReporter.Store(
            save: { report in try await loop.run { try connection.value.opened().saveReport(report) } },
            remove: { identifier in
                try await loop.run { try connection.value.opened().removeReport(of: identifier) }
                loop.stopAndJoin()
            })
        return WorkerReporter(
            kind: .registry, identifier: identifier, version: version, store: store, logger: logger
        ) { status in
            status.checks = service().readinessChecks("registry").map { check in
                WorkerStatus.Check(name: check.name, failure: check.failure, onlyDegrades: check.onlyDegrades)
            }
            return []
        }
    }
}

/// A connection to the registry that is opened with the first report.
private final class ReportConnection {
    private let open: () throws(RegistryError) -> any WorkerReportRegistry
    private var registry: (any WorkerReportRegistry)?

    init(open: @escaping () throws(RegistryError) -> any WorkerReportRegistry) { self.open = open }

    func opened() throws(RegistryError) -> any WorkerReportRegistry {
        if let registry { return registry }
        let opened = try open()
        registry = opened
        return opened
    }
}
