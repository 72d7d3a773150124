import PostgreSQL

extension SessionSettings {
    /// Creates the settings of a registry.
    ///
    /// - Parameters:
    ///   - callMilliseconds: how long a statement may take.
    ///   - lockMilliseconds: how long a statement waits for a lock; nil for as long as it may take.
    ///   - isReadOnly: whether transactions may only read.
    init(ofRegistry callMilliseconds: Int, lockMilliseconds: Int?, isReadOnly: Bool) {
        var values = [
            ("statement_timeout", "\(callMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(callMilliseconds * 3)"),
            // Every question is answered through an index. Without statistics, in a new registry, the planner would
            // scan.
            ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"), ("jit", "off"), ("max_parallel_workers_per_gather", "0"),
        ]
        if let lockMilliseconds { values.append(("lock_timeout", "\(max(lockMilliseconds, 1))")) }
        self.init(values: values, isReadOnly: isReadOnly)
    }
}
