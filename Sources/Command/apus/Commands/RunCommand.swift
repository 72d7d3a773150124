import Dispatcher
import EventLoop
import Metrics
import ServiceManager
import WorkerConfiguration

/// `apus run`.
struct RunCommand: Command {
    let name = "run"
    let summary = "Run a worker until SIGTERM or SIGINT"
    let help = CommandHelp(
        discussion: """
            Consumes change events from the queue NAMESPACE.work (and .work.2, .work.3 … with
            rabbitmq.work_queues above 1), finds the subscribed devices and sends the pushes.
            The worker acknowledges an event when each of its pushes has ended or waits in a
            retry queue. Start as many workers as you need: they share the queues and the
            registry.

            The log goes to standard error. With [admin] listen the worker serves /livez,
            /readyz, /metrics, /version and, at [admin] page_path, the operator's page. With
            [registry] listen it also serves the registry's API, see 'apus registry --help'.

            SIGTERM or SIGINT drains: the worker takes no new events, finishes its pushes
            within [worker] drain_timeout, and exits with 0, or with 75 after the timeout. A
            second signal exits at once. Nothing is lost either way: RabbitMQ delivers
            unfinished events again, and some pushes may be sent twice.

            SIGHUP reads the configuration again. If all of it is right, a new set of
            connections takes over, and the old one finishes its pushes: nothing is lost, and
            apps can come and go. If anything is wrong, or the new set cannot consume, the
            worker goes on as it was. The log says which (config.reloaded,
            config.reload.failed), and which keys need a restart. A changed key file or
            certificate is also read again by itself within seconds.
            """,
        examples: [
            .init("apus run", "Runs a worker with apus.toml in this folder."),
            .init("apus run --config /etc/apus/apus.toml --set log.level=debug", "Overrides one key."),
        ],
        environment: [
            .init("OTEL_EXPORTER_OTLP_ENDPOINT", "The collector that traces are exported to. Default: none."),
            .init("OTEL_TRACES_SAMPLER", "Which traces are exported; deploy/tracing.md has all variables."),
        ],
        exitCodes: [.configuration, .unavailable, .temporaryFailure, .noPermission]
    )
    let options = CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        ProcessMemory.returnLargeBlocks()
        let loaded = try invocation.loadConfiguration(for: .worker)
        let tracing = try invocation.traceExport()
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        do {
            let host = try WorkerHost(
                loaded, version: ProductVersion.current, metrics: metrics, tracing: tracing)
            let service = invocation.serviceNotifier(on: stop.loop, host.logger)
            try await host.start()
            service.observe(host.adminRoutes)
            let loader = try invocation.configurationLoader()
            await stop.wait {
                service.reloadBegan()
                await host.reload { () throws(ConfigurationError) in try loader.load(for: .worker) }
                service.reloadEnded()
            }
            service.stopBegan()
            let outcome = await host.drain()
            return outcome == .complete ? .ok : .temporaryFailure
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }
}
