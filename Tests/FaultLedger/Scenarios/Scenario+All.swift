extension Scenario {
    /// All scenarios, in the order in which they run: add yours here.
    static let all: [Scenario] = worker + broker + network + registry + apns + calls

    /// What runs only when it is asked for by name, because it takes long.
    static let onRequest: [Scenario] = [.soak]

    /// Faults of workers.
    static let worker: [Scenario] = [
        .workerKill, .workerTerminate, .workerTerminateTwice, .workerStop, .workerOutOfFiles, .workerOutOfMemory,
        .fanoutWorkerKill,
    ]

    /// Faults of the broker.
    static let broker: [Scenario] = [
        .brokerKill, .brokerRestart, .brokerStop, .brokerMemoryAlarm, .brokerDiskAlarm, .brokerQueueDeleted,
        .brokerRetryQueuesDeleted,
        .brokerDeadLettersDeleted,
        .brokerExchangeMissing, .brokerPermissionRevoked, .brokerPasswordChanged, .brokerConsumerTimeout,
        .clusterLeaderKill, .clusterMinorityCutOff, .clusterNodeStop,
        .fanoutBrokerKill,
    ]
}
