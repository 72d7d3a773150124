public import ChangeQueue
public import WorkerConfiguration

/// `apus relay`: health, metrics and reload are those of what consumes outcomes.
extension RelayRun: OutcomeRun {
    /// Refuses a configuration without an outbox.
    public static func check(_ configuration: Configuration) throws(WorkerError) {
        guard configuration.relay.isConfigured else {
            throw WorkerError(
                .configuration, "there is no outbox: set relay.url to the backend's database; see deploy/relay.md")
        }
    }

    /// Finds none: a relay consumes no queue, and RabbitMQ returns what no queue takes.
    public static func findMissingQueues(
        of topology: Topology, at broker: BrokerConfiguration
    ) async throws(ChangeQueueError) -> [String] { [] }
}
