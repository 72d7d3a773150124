/// Publishes messages with confirms.
///
/// All methods may be called from any thread.
public protocol MessagePublisher: AnyObject, Sendable {
    /// Connects, and goes on connecting for as long as it takes; outcomes go to the handler.
    func start(handler: any PublishHandler)

    /// Publishes in order.
    ///
    /// Unconfirmed messages of a lost connection are published again on the next, so each message gets exactly one
    /// outcome, and the broker may see it twice.
    func publish(_ messages: [OutgoingMessage])

    /// Waits for the outcomes of all publishes, up to a deadline, and closes the connection.
    ///
    /// - Returns: whether every message had its outcome.
    func close(deadlineSeconds: Double) async -> Bool
}

/// Takes the outcomes of a `MessagePublisher`; called on the publisher's own thread, so it must only pass them on.
public protocol PublishHandler: AnyObject, Sendable {
    /// Publishes ended, each exactly once.
    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)])

    /// Whether the publisher can publish at this moment: false while it reconnects or the broker blocks it.
    func publisherStateChanged(isReady: Bool, reason: String)

    /// Whether the broker takes no messages on a connection that it keeps, for lack of memory or disk
    /// (`connection.blocked`); a lost connection ends that.
    func publisherBlocked(_ isBlocked: Bool)
}

extension PublishHandler {
    /// Does nothing: most publishers only wait.
    public func publisherBlocked(_ isBlocked: Bool) {}
}
