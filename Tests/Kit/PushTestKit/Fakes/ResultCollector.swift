public import Notifications

/// Takes the results of a client, and lets a test wait for them.
public final class ResultCollector: PushTransportHandler {
    /// The results so far, in their order.
    public let results = Watched<[AttemptResult]>([])
    /// Whether the route leads to the push service, each time that the client said so.
    public let reachability = Watched<[Bool]>([])

    /// Creates a collector.
    public init() {}

    /// Takes changes.
    public func routesChanged(_ changes: [RouteChange]) { reachability.update { $0 += changes.map(\.isReachable) } }

    /// Takes results.
    public func pushesEnded(_ results: [AttemptResult]) { self.results.update { $0 += results } }

    /// Waits for a number of results; answers what is there at the end of a hang.
    public func wait(count: Int) async -> [AttemptResult] {
        _ = await results.wait { $0.count >= count }
        return results.value
    }

    /// The outcome of one push.
    public func outcome(_ identifier: UInt64) -> AttemptOutcome? {
        results.value.first { $0.identifier == identifier }?.outcome
    }
}
