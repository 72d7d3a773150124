import AdminServer
import Dispatcher
import EventLoop
import Glibc
import ServiceManager
import StructuredLogging

extension CommandInvocation {
    /// Prepares to tell systemd how a long-running command is, if systemd started it.
    ///
    /// - Parameters:
    ///   - loop: where the service is looked at.
    ///   - logger: where it is told that systemd cannot be told.
    /// - Returns: the notifier; it does nothing if systemd did not start the command.
    func serviceNotifier(on loop: EventLoop, _ logger: Logger) -> ServiceNotifier {
        let warn: @Sendable (String) -> Void = { reason in
            logger.log(.warning, "service.notification.failed", [.field("reason", reason)])
        }
        var settings: ServiceManagerSettings?
        do {
            settings = try ServiceManagerSettings(environment: ProcessEnvironment.variables, processID: getpid())
        } catch {
            warn("\(error)")
        }
        return ServiceNotifier(settings, loop: loop, onFailure: warn)
    }
}

extension ServiceNotifier {
    /// Looks at a service from now on, by the evidence of `/livez` and `/readyz`.
    func observe(_ routes: AdminRoutes) { observe { ServiceObservation(routes) } }
}

extension ServiceObservation {
    /// Reads the state from the results behind `/livez` and `/readyz`.
    ///
    /// A worker that reads the subscriptions is starting; one that waits for RabbitMQ has started, for that may take
    /// any time.
    init(_ routes: AdminRoutes) {
        let hangs = routes.liveness().filter { $0.failure != nil }
        let problems = routes.readiness().filter { $0.failure != nil }
        let reasons = hangs.map { "\($0.name) hangs" } + problems.map { "\($0.name): \($0.failure ?? "")" }
        self.init(
            isStarted: !problems.contains { $0.name == PipelineHealth.Concern.subscriptions.rawValue },
            isAlive: hangs.isEmpty,
            status: reasons.isEmpty ? "ready" : "not ready: " + reasons.joined(separator: "; "))
    }
}
