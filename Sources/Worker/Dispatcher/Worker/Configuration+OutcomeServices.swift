import AdminServer
import ChangeQueue
import Notifications

/// What the processes that consume outcomes have in common.
extension Configuration {
    /// Makes sure of the queues that a process consumes.
    ///
    /// A broker that is away is no error: it is tried for as long as it takes.
    ///
    /// - Parameters:
    ///   - logger: takes the event `outcomes.broker.away`.
    ///   - findMissing: finds the names of the missing queues.
    /// - Throws: `WorkerError` if a queue is missing, or the broker refuses.
    func prepareOutcomeQueues(
        _ logger: Logger,
        findMissing: (Topology, BrokerConfiguration) async throws(ChangeQueueError) -> [String]
    ) async throws(WorkerError) {
        let missing: [String]
        do throws(ChangeQueueError) {
            let broker = try broker(purpose: "topology")
            if worker.declaresTopology { _ = try await topology.apply(to: broker) }
            missing = try await findMissing(topology, broker)
        } catch {
            if error.code == .unavailable {
                return logger.log(.warning, "outcomes.broker.away", [.field("reason", error.message)])
            }
            throw WorkerError(starting: error)
        }
        guard missing.isEmpty else {
            throw WorkerError(
                .configuration, "RabbitMQ lacks \(missing.joined(separator: ", ")); run `apus topology apply` first")
        }
    }

    /// Serves health and metrics; nil if no address is given.
    ///
    /// - Throws: `WorkerError` if the address cannot be had.
    func adminServer(
        at listen: HostPort?, _ routes: AdminRoutes, _ logger: Logger
    ) throws(WorkerError) -> AdminServer? {
        guard let listen else { return nil }
        do {
            let server = try AdminServer(host: listen.host, port: listen.port, names: admin.hosts, routes: routes)
            logger.log(.info, "admin.listening", [.field("port", Int(server.port))])
            return server
        } catch { throw WorkerError(.unavailable, "\(error)") }
    }
}
