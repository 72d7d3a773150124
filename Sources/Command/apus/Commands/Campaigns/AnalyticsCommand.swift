import AdminServer
import Dispatcher
import EventLoop
import Metrics
import ServiceManager

/// `apus analytics`.
struct AnalyticsCommand: Command {
    private static let listen = CommandOption.value(
        "listen", "HOST:PORT",
        "Where /livez, /readyz, /metrics and /version are served. Default: nowhere.")

    let name = "analytics"
    let summary = "Count what becomes of pushes, by campaign"
    let help = CommandHelp(
        discussion: """
            Counts outcomes in the registry until SIGTERM or SIGINT: how many devices each campaign
            matched, how many pushes were accepted, found a dead token, expired or became dead
            letters, by platform and hour. 'apus campaign show' and the operator's page show the
            numbers.
              [analytics]
              enabled = true
              [[app]]
              name = "chat"
              outcomes = ["all"]
              opens = true        # devices report opened pushes
            A requested push names its campaign: {"app": "chat", "campaign": "spring-sale", …}. Other
            pushes count for dataset:NAME or subscription:ID.

            'apus topology apply' makes the queue NAMESPACE.outcomes.analytics, which this command
            empties. A push counts once, however often RabbitMQ delivers its outcome. Start one or
            more: they share the queue. The log goes to standard error. SIGHUP reads the
            configuration again.
            """,
        examples: [
            .init("apus topology apply && apus analytics", "Makes the queue, and counts."),
            .init("apus analytics --listen 127.0.0.1:9471", "Also serves health and metrics."),
        ],
        exitCodes: [.configuration, .unavailable, .noPermission]
    )
    let options = [listen] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let listen = try invocation.string(Self.listen).map { text throws(CommandFailure) in
            guard let address = HostPort(text) else {
                throw .usage("--listen takes HOST:PORT, not '\(text)'")
            }
            return address
        }
        let loaded = try invocation.loadConfiguration(for: .tool)
        let metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, product: "apus", version: ProductVersion.current)
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        do {
            let host = try AnalyticsHost(
                loaded, listen: listen, version: ProductVersion.current, metrics: metrics)
            let service = invocation.serviceNotifier(on: stop.loop, host.logger)
            try await host.start()
            service.observe(host.adminRoutes)
            let loader = try invocation.configurationLoader()
            await stop.wait {
                service.reloadBegan()
                await host.reload { () throws(ConfigurationError) in try loader.load(for: .tool) }
                service.reloadEnded()
            }
            service.stopBegan()
            await host.stop()
            return .ok
        } catch let error as WorkerError {
            throw CommandFailure(error)
        }
    }
}
