public import EventLoop

/// A connection that lives on an event loop: frames are taken as they come, and nothing waits for an answer.
///
/// It watches the socket level-triggered and reads until nothing is left, puts deliveries together itself, and hands
/// over what one tick brought as one batch. Once a second it lets librabbitmq look after the heartbeats. A
/// `SendWatchdog` watches every call of librabbitmq that could block.
///
/// Lives on one loop; every method must be called there.
public final class AMQPConnection {
    /// The most frames that are read before their contents are handed over.
    private static let framesPerBatchMaximum = 4_096
    private static let tickNanoseconds: UInt64 = 1_000_000_000

    /// Where the broker is.
    public var endpoint: AMQPEndpoint { session.endpoint }

    private let session: AMQPSession
    private let loop: EventLoop
    private var handler: (any AMQPConnectionHandler)?
    private var registration: EventLoop.Registration?
    private var tickTimer: EventLoop.Timer?
    private var batch = AMQPBatch()
    private var isReceiveScheduled = false
    /// Whether the connection has failed and still hands over what was received before.
    ///
    /// Nothing may be sent any more. When the broker closes the channel the session opens another, on which confirms
    /// are off; a message published there would never be confirmed.
    private var isEnding = false

    /// Takes over a session on which consumers have been started or confirms been turned on.
    ///
    /// - Parameters:
    ///   - session: the caller must not use it any more.
    ///   - loop: the loop to live on; the caller runs on it.
    ///   - handler: receives the events; retained until the connection ends.
    /// - Throws: `EventLoopError` if the kernel refuses to watch the socket.
    public init(
        _ session: AMQPSession, on loop: EventLoop, handler: any AMQPConnectionHandler
    ) throws(EventLoopError) {
        loop.preconditionOnLoop()
        self.session = session
        self.loop = loop
        self.handler = handler
        registration = try loop.register(session.fileDescriptor, for: .readable) { [unowned self] _ in receive() }
        scheduleTick()
        // The answers of the set-up may have brought deliveries, which the socket does not announce again.
        scheduleReceive()
    }

    /// Sends a burst: publishes, acknowledgements.
    ///
    /// Received bytes are read first, because librabbitmq 0.11 hangs in a publish when it believes that a heartbeat is
    /// overdue. Their contents are handed over at the end of the tick.
    ///
    /// - Parameter body: sends through the session; must not make requests that wait for an answer. Errors of `body`
    ///   end the connection, except `AMQPError.Code.invalid`, which `body` has to handle.
    /// - Returns: whether the connection lives on.
    @discardableResult
    public func burst(_ body: (AMQPSession) throws(AMQPError) -> Void) -> Bool {
        loop.preconditionOnLoop()
        guard handler != nil, !isEnding else { return false }
        session.stallGuard.arm()
        do throws(AMQPError) {
            try drain()
            try body(session)
        } catch {
            session.stallGuard.disarm()
            end(error)
            return false
        }
        session.stallGuard.disarm()
        if !batch.deliveries.isEmpty || !batch.events.isEmpty || session.hasUnreadFrames { scheduleReceive() }
        return true
    }

    /// How long to wait between the last acknowledgement and `close(synchronizing:)`, in nanoseconds.
    ///
    /// RabbitMQ's channel passes only some acknowledgements on to a quorum queue at once, and forgets the others when
    /// it closes. Before 4.0 `close` itself can wait for them. From 4.0 on, only an AMQP request that takes a message
    /// waits for them. But the channel passes the others on by itself, as soon as the queue has processed the earlier
    /// ones. So the channel stays open for a moment, in which a queue processes hundreds of commands. A slower queue
    /// delivers settled messages again: duplicates, and no loss.
    public var settlementNanoseconds: UInt64 { session.heedsCredit ? 0 : 500_000_000 }

    /// Says goodbye to the broker and ends the connection, waiting some seconds at most.
    ///
    /// - Parameter queues: quorum queues whose acknowledgements must not be forgotten; see
    ///   `AMQPSession.synchronize(with:)`. Their consumers must have been cancelled, and `settlementNanoseconds` have
    ///   passed since then.
    public func close(synchronizing queues: [String] = []) {
        loop.preconditionOnLoop()
        guard handler != nil else { return }
        detach()
        session.hasten()
        for queue in queues {
            // A queue that is gone, or a broker that does not answer, has nothing to lose by this.
            if session.heedsCredit {
                try? session.synchronize(with: queue)
            } else {
                // The answer shows that the queue has received what the channel passed on.
                _ = try? session.declareQueue(queue, isPassive: true)
            }
        }
        session.close()
    }

    /// Ends the connection without a word, because the broker cannot be trusted to answer one.
    public func abandon() {
        loop.preconditionOnLoop()
        guard handler != nil else { return }
        detach()
        session.abandon()
    }

    // MARK: Receiving

    private func scheduleReceive() {
        guard !isReceiveScheduled else { return }
        isReceiveScheduled = true
        loop.atEndOfTick { [weak self] in
            self?.isReceiveScheduled = false
            self?.receive()
        }
    }

    private func scheduleTick() {
        tickTimer = loop.schedule(afterNanoseconds: Self.tickNanoseconds) { [weak self] in
            guard let self, handler != nil else { return }
            scheduleTick()
            receive()
        }
    }

    private func receive() {
        guard handler != nil else { return }
        session.stallGuard.arm()
        var failure: AMQPError?
        do throws(AMQPError) { try drain() } catch { failure = error }
        session.stallGuard.disarm()
        if let failure { return end(failure) }
        handOver()
        if handler != nil, session.hasUnreadFrames { scheduleReceive() }
    }

    private func drain() throws(AMQPError) {
        _ = try session.readFrames(into: &batch, framesMaximum: Self.framesPerBatchMaximum)
    }

    private func handOver() {
        let received = batch
        batch = AMQPBatch()
        if !received.deliveries.isEmpty { handler?.deliveriesReceived(received.deliveries) }
        if !received.events.isEmpty { handler?.eventsReceived(received.events) }
    }

    // MARK: The end

    private func end(_ error: AMQPError) {
        isEnding = true
        handOver()
        guard let handler else { return }
        detach()
        session.abandon()
        handler.connectionLost(error)
    }

    private func detach() {
        if let registration { loop.deregister(registration) }
        if let tickTimer { loop.cancel(tickTimer) }
        registration = nil
        tickTimer = nil
        handler = nil
    }
}

/// Takes what an `AMQPConnection` receives; called on the connection's loop.
public protocol AMQPConnectionHandler: AnyObject {
    /// Deliveries, in the broker's order: all that one tick brought.
    func deliveriesReceived(_ deliveries: [AMQPDelivery])

    /// Everything else that the broker said, in its order.
    func eventsReceived(_ events: [AMQPEvent])

    /// The connection has ended, by an error; it calls nothing after this. Not called for `close`.
    func connectionLost(_ error: AMQPError)
}
