import TOML

extension Configuration {
    /// How a worker behaves: `[worker]`.
    public struct Worker: Hashable, Sendable {
        /// The time that a stopping worker has to finish its pushes in flight, 1 s to 1 h.
        public var drainTimeout: TimeSpan
        /// How long a push service may take to answer one push, 1 s to 5 min.
        public var pushTimeout: TimeSpan
        /// Whether the worker makes the exchanges and queues that it misses, rather than only say so.
        public var declaresTopology: Bool
    }
}

extension ConfigurationKey {
    static let workerDrainTimeout = ConfigurationKey(
        section: "worker", name: "drain_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.hours(1)),
        standard: .string("30s"),
        summary: "Time to finish pushes after SIGTERM.",
        details: "The service manager's limit has to be longer.")
    static let workerPushTimeout = ConfigurationKey(
        section: "worker", name: "push_timeout", kind: .timeSpan(TimeSpan.seconds(1)...TimeSpan.minutes(5)),
        standard: .string("20s"),
        summary: "Time for an answer of the push service, before a push is sent again.")
    static let workerDeclaresTopology = ConfigurationKey(
        section: "worker", name: "declare_topology", kind: .boolean, standard: .boolean(false),
        summary: "Whether a starting worker creates missing exchanges and queues.",
        details: "Else 'apus topology apply' does.")

    /// The keys of `[worker]`.
    static let worker = [workerDrainTimeout, workerPushTimeout, workerDeclaresTopology]
}

extension ConfigurationReader {
    /// Reads `[worker]`.
    mutating func readWorker() -> Configuration.Worker {
        let worker = Configuration.Worker(
            drainTimeout: timeSpan(.workerDrainTimeout), pushTimeout: timeSpan(.workerPushTimeout),
            declaresTopology: boolean(.workerDeclaresTopology))
        if worker.drainTimeout < worker.pushTimeout {
            warn(
                .workerDrainTimeout, "\(worker.drainTimeout) is less than worker.push_timeout (\(worker.pushTimeout))",
                "a stopping worker may abandon pushes that a push service would still have answered")
        }
        return worker
    }
}
