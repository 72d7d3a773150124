extension Configuration {
    /// How a worker behaves: `[worker]`.
    public struct Worker: Hashable, Sendable {
        /// The time that a stopping worker has to finish its pushes in flight, 1 s to 1 h.
        ///
        /// `worker.drain_timeout`, default `30s`.
        public var drainTimeout: TimeSpan
        /// How long a push service may take to answer one push, 1 s to 5 min.
        ///
        /// `worker.push_timeout`, default `20s`.
        public var pushTimeout: TimeSpan
        /// Whether the worker makes the exchanges and queues that it misses, rather than only say so.
        ///
        /// `worker.declare_topology`, default false.
        public var declaresTopology: Bool
    }
}
