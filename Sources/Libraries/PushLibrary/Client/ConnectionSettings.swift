package import ConnectionPool

/// The checked settings of connections that the configurations of all libraries share.
package struct ConnectionSettings {
    private let timeout: Duration

    /// Checks the timeout of a configuration.
    ///
    /// - Parameters:
    ///   - name: the name of the configuration, for errors.
    ///   - timeout: how long a push may wait, and then again how long its answer may take.
    /// - Throws: `PushError` (`configurationInvalid`) if it is not positive, or a day or more.
    package init(name: String, timeout: Duration) throws(PushError) {
        guard timeout > .zero, timeout < .seconds(86_400) else {
            throw PushError(
                .configurationInvalid,
                "the timeout of \(name) is \(timeout); it must be more than 0 and less than a day")
        }
        self.timeout = timeout
    }

    /// Puts the timeout into the bounds of a pool, in which pushes end as soon as the endpoint proves unusable.
    ///
    /// - Parameters:
    ///   - limits: the other bounds.
    ///   - connections: how many to keep open; nil leaves those of the bounds.
    ///   - connectionsMaximum: how many to open while pushes wait; nil leaves those of the bounds.
    /// - Returns: the bounds.
    package func limits(
        _ limits: PoolLimits, connections: Int? = nil, connectionsMaximum: Int? = nil
    ) -> PoolLimits {
        var limits = limits
        limits.connections = max(0, connections ?? limits.connections)
        limits.connectionsMaximum = max(1, limits.connections, connectionsMaximum ?? limits.connectionsMaximum)
        limits.deadlineNanoseconds = UInt64(max(1, timeout / .nanoseconds(1)))
        limits.endsWaitingOnUnusableEndpoint = true
        return limits
    }
}
