/// Takes the outcomes of a `MessagePublisher`; called on the publisher's own thread, so it must only pass them on.
public protocol PublishHandler: AnyObject, Sendable {
    /// Publishes ended, each exactly once.
    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)])

    /// Whether the publisher can publish at this moment: false while it reconnects or the broker blocks it.
    func publisherStateChanged(isReady: Bool, reason: String)
}
