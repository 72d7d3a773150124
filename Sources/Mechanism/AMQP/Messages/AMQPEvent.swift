/// Something that the broker said on its own.
public enum AMQPEvent: Sendable {
    /// The broker ended a consumer (`basic.cancel`): its queue was deleted, or its leader is lost.
    case consumerEnded(tag: String)
    /// The broker agreed to end a consumer (`basic.cancel-ok`).
    case consumerCancelled(tag: String)
    /// The broker took publishes (`basic.ack`), or refused them (`basic.nack`), up to a number or just that number.
    case confirmed(number: UInt64, isMultiple: Bool, isAccepted: Bool)
    /// No queue took a publish; its confirm follows.
    case returned(AMQPReturn)
    /// The broker takes no publishes on this connection for now (`connection.blocked`), and why.
    case blocked(reason: String)
    /// The broker takes publishes again.
    case unblocked
}
