import AdminServer
import Dispatcher
import EventLoop
import Metrics
import Notifications
import PushCore
import RegistryAPI

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
            /readyz, /metrics and /version. With [registry] listen it also serves the
            registry's API, see 'apus registry --help'.

            SIGTERM or SIGINT drains: the worker takes no new events, finishes its pushes
            within [worker] drain_timeout, and exits with 0, or with 75 after the timeout. A
            second signal exits at once. Nothing is lost either way: RabbitMQ delivers
            unfinished events again, and some pushes may be sent twice.

            A changed key file is read again within seconds. SIGHUP reads all key files, and
            key_file and key_id from the configuration, at once. The API's certificate and
            its key are read again in the same way. Other changes need a restart.
            """,
        examples: [
            .init("apus run", "Runs a worker with apus.toml in this folder."),
            .init("apus run --config /etc/apus/apus.toml --set log.level=debug", "Overrides one key."),
        ],
        exitCodes: [.configuration, .unavailable, .temporaryFailure, .noPermission]
    )
    let options = CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        ProcessMemory.returnLargeBlocks()
        let configuration = try invocation.loadConfiguration(for: .worker).configuration
        let logger = LogSink(configuration.log).logger(minimum: configuration.log.level)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        do {
            let worker = try Worker(configuration: configuration, logger: logger, metrics: metrics)
            configuration.warnOfLooseModes(logger)
            let api = try startRegistryServer(configuration, logger: logger, metrics: metrics)
            let admin = try startAdminServer(worker, api, configuration.admin)
            if let admin { logger.log(.info, "admin.listening", [.field("port", Int(admin.port))]) }
            try await worker.start()
            let certificate = try api.flatMap { api throws(WorkerError) in
                try CertificateWatcher(configuration.registryAPI, of: api, logger: logger)
            }
            stop.onHangUp {
                reloadKeys(of: worker, invocation, logger)
                certificate?.reread()
            }
            await stop.wait()
            api?.stop()
            let outcome = await worker.drain()
            admin?.stop()
            return outcome == .complete ? .ok : .temporaryFailure
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }

    private func reloadKeys(of worker: Worker, _ invocation: CommandInvocation, _ logger: Logger) {
        do throws(CommandFailure) {
            worker.reloadKeys(try invocation.loadConfiguration(for: .worker).configuration)
        } catch {
            logger.log(
                .error, "worker.reload.failed",
                [.field("reason", error.message), .field("hint", "the worker keeps its current keys")])
        }
    }

    private func startRegistryServer(
        _ configuration: Configuration, logger: Logger, metrics: MetricsRegistry
    ) throws(WorkerError) -> RegistryServer? {
        guard let address = configuration.registryAPI.listen else { return nil }
        let api = try configuration.registryServer(at: address, mode: .readWrite, metrics: metrics, logger: logger)
        logger.log(.info, "registry.listening", [.field("port", Int(api.port))])
        return api
    }

    private func startAdminServer(
        _ worker: Worker, _ api: RegistryServer?, _ configuration: Configuration.Admin
    ) throws(CommandFailure) -> AdminServer? {
        guard let address = configuration.listen else { return nil }
        do {
            return try AdminServer(
                host: address.host, port: address.port, names: configuration.hosts,
                routes: worker.adminRoutes(version: ProductVersion.current, registryServer: api))
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }
}
