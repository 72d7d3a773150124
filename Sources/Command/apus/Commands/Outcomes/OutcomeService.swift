import Dispatcher
import EventLoop
import Metrics
import ServiceManager
import WorkerConfiguration

/// The common parts of `apus webhooks` and `apus analytics`: each is a process that consumes outcomes.
enum OutcomeService {
    /// `--listen`.
    static let listen = CommandOption.value(
        "listen", "HOST:PORT", "Where /livez, /readyz, /metrics and /version are served. Default: nowhere.")

    /// Runs such a process until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - run: the type of the consumer.
    ///   - purpose: the parts of the configuration that have to be right.
    ///   - invocation: the use of a command with `listen` among its options.
    /// - Returns: how the command ends.
    /// - Throws: `CommandFailure` if it cannot begin.
    static func run<Run: OutcomeRun>(
        _ run: Run.Type, for purpose: ConfigurationLoader.Purpose, _ invocation: CommandInvocation
    ) async throws -> ExitCode {
        let listen = try invocation.string(Self.listen).map { text throws(CommandFailure) in
            guard let address = HostPort(text) else { throw .usage("--listen takes HOST:PORT, not '\(text)'") }
            return address
        }
        ProcessMemory.returnLargeBlocks()
        let loaded = try invocation.loadConfiguration(for: purpose)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        do {
            let host = try OutcomeHost<Run>(loaded, listen: listen, version: ProductVersion.current, metrics: metrics)
            let service = invocation.serviceNotifier(on: stop.loop, host.logger)
            try await host.start()
            service.observe(host.adminRoutes)
            let loader = try invocation.configurationLoader()
            await stop.wait {
                service.reloadBegan()
                await host.reload { () throws(ConfigurationError) in try loader.load(for: purpose) }
                service.reloadEnded()
            }
            service.stopBegan()
            return await host.stop() ? .ok : .temporaryFailure
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }
}
