public import EventLoop
public import Notifications
public import PushCore

/// Asks a registry on a loop of its own, so that nothing else waits while it answers.
///
/// Requests are answered one after the other, in their order. A worker has two clients with a connection each: one for
/// look-ups, one for writes, because a look-up must not wait until a disk has written what another request plans.
public final class RegistryClient: Sendable {
    /// Where the connection lives.
    public let loop: EventLoop
    private let responder: LoopBound<RegistryResponder>

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - loop: where the connection will live.
    ///   - registry: a connection that nobody else uses.
    ///   - limits: the sizes of pages and chunks.
    ///   - logger: takes what an operator should know of the registry.
    ///   - metrics: the instruments of the index.
    ///   - nowMilliseconds: reads the wall clock.
    public init(
        loop: EventLoop, registry: sending any PipelineRegistry, limits: DispatchLimits, logger: Logger,
        metrics: RegistryMetrics, nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        responder = LoopBound(
            RegistryResponder(
                registry: registry, limits: limits, logger: logger, metrics: metrics,
                nowMilliseconds: nowMilliseconds), to: loop)
    }

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
