public import DispatchCore
public import EventLoop
public import Metrics
public import RegistryCore
public import StructuredLogging

/// Queries a registry on a loop of its own, so that nothing else waits for the answer.
///
/// The registry answers requests in their order, one at a time. A worker has two clients with a connection each, one
/// for look-ups and one for writes: a look-up must not wait for another request's write to disk.
public final class RegistryClient: Sendable {
    /// Where the connection lives.
    public let loop: EventLoop
    private let responder: LoopBound<RegistryResponder>

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - loop: where the connection will live.
    ///   - registry: a connection that no other client uses.
    ///   - limits: the sizes of pages and chunks.
    ///   - logger: takes what an operator should know of the registry.
    ///   - metrics: the instruments of the index.
    ///   - memory: knows which events the registry remembers; nil for one that no other client has.
    ///   - nowMilliseconds: reads the wall clock.
    public init(
        loop: EventLoop, registry: sending any PipelineRegistry, limits: DispatchLimits, logger: Logger,
        metrics: RegistryMetrics, memory: (any EventMemoryFollower)? = nil,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        responder = LoopBound(
            RegistryResponder(
                registry: registry, limits: limits, logger: logger, metrics: metrics, memory: memory,
                nowMilliseconds: nowMilliseconds), to: loop)
    }

    /// Keeps a report in the registry, after all that was asked before.
    ///
    /// - Throws: `RegistryError` if the registry cannot be written.
    func save(_ report: WorkerReport) async throws {
        try await loop.run { [responder] in try responder.value.registry.saveReport(report) }
    }

    /// Forgets the report of this process.
    func removeReport(of identifier: String) async throws {
        try await loop.run { [responder] in try responder.value.registry.removeReport(of: identifier) }
    }

    /// Ends the loop, after all that was asked before; the client cannot be used again.
    func close() { loop.stopAndJoin() }

    /// Asks the registry, after all that was asked before.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - answered: takes the answer, on the client's loop.
    func ask(
        _ request: RegistryRequest, answered: @escaping @Sendable (Result<RegistryAnswer, RegistryError>) -> Void
    ) {
        loop.submit { [responder] in
            answered(Result { () throws(RegistryError) in try responder.value.answer(request) })
        }
    }
}

/// The instruments of the index of subscriptions to records.
public final class RegistryMetrics: Sendable {
    let matchedSlowly: Counter
    private let subscriptions: Gauge
    private let predicates: Gauge
    private let indexBytes: Gauge
    private let eventMemoryBytes: Gauge

    /// Makes the instruments, so that each shows as 0 before its first event.
    public init(_ registry: MetricsRegistry) {
        subscriptions = registry.gauge(
            "apus_subscriptions", help: "Subscriptions to records in this worker.")
        predicates = registry.gauge(
            "apus_subscription_predicates", help: "Different predicates among these subscriptions.")
        indexBytes = registry.gauge(
            "apus_subscription_index_bytes", help: "Memory of the index of subscriptions, in bytes.")
        eventMemoryBytes = registry.gauge(
            "apus_event_memory_bytes", help: "Memory of the index of events that are not pushed again, in bytes.")
        matchedSlowly = registry.counter(
            "apus_events_matched_slowly_total",
            help: "Changes of records compared with many subscriptions one by one.")
    }

    func indexChanged(_ size: SubscriptionIndexSize) {
        subscriptions.set(size.subscriptionCount)
        predicates.set(size.distinctPredicateCount)
        indexBytes.set(size.memoryBytes)
    }

    func eventMemoryChanged(_ bytes: Int) { eventMemoryBytes.set(bytes) }
}
