/// How a publish ended.
public enum PublishOutcome: Hashable, Sendable {
    /// The broker has it, on disk.
    case confirmed
    /// No queue took it (`basic.return`), with the broker's text; the message is still ours.
    case returned(String)
    /// The broker refused it (`basic.nack`), for example because a queue is full; the message is still ours.
    case refused
}
