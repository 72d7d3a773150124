import AdminServer
import ChangeQueue
import Metrics
import RegistryAPI
import StructuredLogging
import WorkerConfiguration

/// The registry's API as a process serves it: the server, and what watches its certificate.
final class RegistryService: Sendable {
    /// The server.
    let server: RegistryServer
    private let certificate: CertificateWatcher?
    /// Publishes the events of `POST /v1/events`, and counts in metrics of its own; nil without them.
    private let publishing: (publisher: ConfirmedPublisher, metrics: MetricsRegistry)?

    /// Begins to serve.
    ///
    /// - Parameters:
    ///   - configuration: checked before.
    ///   - listen: where.
    ///   - metrics: where the counters are registered.
    ///   - logger: where events of interest go.
    ///   - predecessor: a running service whose port this one takes over; stop it when this one serves.
    /// - Throws: `WorkerError` if the store, the certificate or the address cannot be used.
    init(
        _ configuration: Configuration, at listen: HostPort, metrics: MetricsRegistry, logger: Logger,
        takingOver predecessor: RegistryService? = nil
    ) throws(WorkerError) {
        publishing = try configuration.eventPublisher(metrics: metrics, logger: logger)
        server = try configuration.registryServer(
            at: listen, publisher: publishing?.publisher, metrics: metrics, logger: logger,
            takingOver: predecessor?.server)
        certificate = try CertificateWatcher(configuration.registryAPI, of: server, logger: logger)
    }

    /// Whether the loop of the API turns.
    var livenessCheck: HealthCheck {
        HealthCheck(loop: "registry-api", nanosecondsSinceLastTick: server.nanosecondsSinceLastTick())
    }

    /// Whether the registry can be used, how requests are answered, and whether RabbitMQ takes events: the checks of
    /// readiness.
    ///
    /// Errors only degrade the process: a router would send its requests to the others, which have the same registry.
    ///
    /// - Parameter name: the name of the first check; the others have `-requests` and `-events` after it.
    /// - Returns: the checks.
    func readinessChecks(_ name: String) -> [HealthCheck] {
        var checks = [
            HealthCheck(name, failure: server.failure),
            HealthCheck("\(name)-requests", failure: server.requestProblem, onlyDegrades: true),
        ]
        if publishing != nil {
            checks.append(HealthCheck("\(name)-events", failure: server.eventsProblem, onlyDegrades: true))
        }
        return checks
    }

    /// Answers received requests, and closes the port; a second call does nothing.
    func stop() async {
        server.stop()
        _ = await publishing?.publisher.close(deadlineSeconds: 0)
        publishing?.metrics.end()
    }
}
