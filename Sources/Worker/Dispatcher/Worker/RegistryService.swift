import AdminServer
import Metrics
import RegistryAPI
import StructuredLogging
import WorkerConfiguration

/// The registry's API as a process serves it: the server, and what watches its certificate.
final class RegistryService: Sendable {
    /// The server.
    let server: RegistryServer
    private let certificate: CertificateWatcher?

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
        server = try configuration.registryServer(
            at: listen, metrics: metrics, logger: logger, takingOver: predecessor?.server)
        certificate = try CertificateWatcher(configuration.registryAPI, of: server, logger: logger)
    }

    /// Whether the loop of the API turns.
    var livenessCheck: HealthCheck {
        HealthCheck(loop: "registry-api", nanosecondsSinceLastTick: server.nanosecondsSinceLastTick())
    }

    /// Whether the registry can be used, and how requests are answered: the checks of readiness.
    ///
    /// Errors only degrade the process: a router would send its requests to the others, which have the same registry.
    ///
    /// - Parameter name: the name of the first check; the other has `-requests` after it.
    /// - Returns: both.
    func readinessChecks(_ name: String) -> [HealthCheck] {
        [
            HealthCheck(name, failure: server.failure),
            HealthCheck("\(name)-requests", failure: server.requestProblem, onlyDegrades: true),
        ]
    }

    /// Answers received requests, and closes the port; a second call does nothing.
    func stop() { server.stop() }
}
