import AdminServer
import EventLoop
import Metrics
import StructuredLogging
import Synchronization
import WorkerConfiguration

/// The configuration that a process runs with: it decides what is logged, and a reload replaces it.
///
/// A reload reads the new configuration, compares it with the running one, has it applied, and reports the result in
/// log and metrics.
final class RunningConfiguration: Sendable {
    /// The log of the process.
    let logger: Logger
    /// Where the parts of the process register their instruments.
    let metrics: MetricsRegistry
    /// The version of the program.
    let version: String
    private let threshold: LogThreshold
    private let loaded: Mutex<LoadedConfiguration>
    private let isSuccessful: Gauge
    private let successSeconds: Gauge

    /// Opens the log and registers the metrics; the start of the process counts as a successful reload.
    init(_ loaded: LoadedConfiguration, version: String, metrics: MetricsRegistry) {
        let log = loaded.configuration.log
        threshold = LogThreshold(log.level)
        logger = LogSink(log).logger(threshold: threshold)
        loaded.logWarnings(logger)
        self.version = version
        self.metrics = metrics
        self.loaded = Mutex(loaded)
        isSuccessful = metrics.gauge(
            "apus_config_last_reload_successful",
            help: "1 if the newest configuration is in force, 0 if it was refused.")
        successSeconds = metrics.gauge(
            "apus_config_last_reload_success_timestamp_seconds",
            help: "When a configuration was put in force, in seconds since 1970.")
        ended(isSuccessful: true)
    }

    /// The configuration in force.
    var current: Configuration { loaded.withLock { $0.configuration } }

    /// The answers about health and metrics.
    func adminRoutes(
        liveness: @escaping @Sendable () -> [HealthCheck], readiness: @escaping @Sendable () -> [HealthCheck]
    ) -> AdminRoutes {
        AdminRoutes(
            liveness: liveness, readiness: readiness, metrics: { [metrics] in metrics.render($0) }, product: "apus",
            version: version)
    }

    // MARK: Reload

    /// Reloads once; to be called by one caller at a time.
    ///
    /// - Parameters:
    ///   - read: reads the new configuration.
    ///   - replaceParts: replaces the parts of the process that need the new one, which has the running one's values
    ///     where a change needs a restart.
    func reload(
        _ read: () throws(ConfigurationError) -> LoadedConfiguration,
        replaceParts: (Configuration) async throws(WorkerError) -> Void
    ) async {
        let running = loaded.withLock { $0 }
        let reason: String
        do throws(ConfigurationError) {
            let given = try read()
            given.logWarnings(logger)
            let change = ConfigurationChange(from: running, to: given)
            if !change.keysForRestart.isEmpty {
                logger.log(
                    .warning, "config.reload.needs-restart",
                    [.field("keys", change.keysForRestart.joined(separator: ", "))])
            }
            let new = given.keeping(running)
            do throws(WorkerError) {
                if change.needsNewParts { try await replaceParts(new.configuration) }
                loaded.withLock { $0 = new }
                threshold.set(new.configuration.log.level)
                ended(isSuccessful: true)
                return logger.log(.info, "config.reloaded", [.field("keys", change.keys.joined(separator: ", "))])
            } catch {
                reason = error.message
            }
        } catch {
            reason = error.problems.map(\.description).joined(separator: "; ")
        }
        ended(isSuccessful: false)
        logger.log(
            .error, "config.reload.failed",
            [.field("reason", reason), .field("hint", "the process keeps its configuration; correct it, send SIGHUP")])
    }

    private func ended(isSuccessful: Bool) {
        self.isSuccessful.set(isSuccessful ? 1 : 0)
        if isSuccessful { successSeconds.set(Int(WallClock.nowMilliseconds() / 1_000)) }
    }
}
