public import EventLoop
public import PushCore

/// Writes down how far large fan-outs are, on a loop and with a connection to the registry of its own.
///
/// What is planned has to be on the disk before it is published, and a disk may take tens of milliseconds for that. On
/// the pipeline's loop, small events would wait for it.
public final class FanOutNotes: Sendable {
    /// Where the registry lives.
    public let loop: EventLoop
    private let registry: LoopBound<any FanOutRegistry>

    /// Starts the loop.
    ///
    /// - Parameter registry: a connection that nobody else uses.
    /// - Throws: `EventLoopError` if there is no thread to be had.
    public init(registry: sending any FanOutRegistry) throws(EventLoopError) {
        loop = try EventLoop(name: "fan-outs")
        self.registry = LoopBound(registry, to: loop)
    }

    /// Asks the registry, after all that was asked before.
    ///
    /// - Parameters:
    ///   - call: what to ask.
    ///   - now: the wall clock, in milliseconds.
    ///   - answered: gets the answer, on the loop.
    func ask(
        _ call: FanOutCall, nowMilliseconds now: Int64,
        answered: @escaping @Sendable (Result<FanOutCall.Answer, RegistryError>) -> Void
    ) {
        loop.submit { [registry] in
            answered(
                Result { () throws(RegistryError) in try call.perform(on: registry.value, nowMilliseconds: now) })
        }
    }
}
