import EventLoop
import Metrics
import StructuredLogging
import WorkerConfiguration

/// Reloads a configuration: reads it, compares it with the running one, has it applied, and reports the result in log
/// and metrics.
struct Reloader: Sendable {
    private let logger: Logger
    private let isSuccessful: Gauge
    private let successSeconds: Gauge

    /// Registers the metrics; the start of the process counts as a successful reload.
    init(logger: Logger, metrics: MetricsRegistry) {
        self.logger = logger
        isSuccessful = metrics.gauge(
            "apus_config_last_reload_successful",
            help: "1 if the newest configuration is in force, 0 if it was refused.")
        successSeconds = metrics.gauge(
            "apus_config_last_reload_success_timestamp_seconds",
            help: "When a configuration was put in force, in seconds since 1970.")
        ended(isSuccessful: true)
    }

    /// Reloads once.
    ///
    /// - Parameters:
    ///   - running: the configuration in force.
    ///   - read: reads the new one.
    ///   - apply: puts the new one in force, with the running one's values where a change needs a restart.
    func reload(
        from running: LoadedConfiguration, read: () throws(ConfigurationError) -> LoadedConfiguration,
        apply: (LoadedConfiguration, ConfigurationChange) async throws(WorkerError) -> Void
    ) async {
        let reason: String
        do throws(ConfigurationError) {
            let new = try read()
            new.logWarnings(logger)
            let change = ConfigurationChange(from: running, to: new)
            if !change.keysForRestart.isEmpty {
                logger.log(
                    .warning, "config.reload.needs-restart",
                    [.field("keys", change.keysForRestart.joined(separator: ", "))])
            }
            do throws(WorkerError) {
                try await apply(new.keeping(running), change)
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
