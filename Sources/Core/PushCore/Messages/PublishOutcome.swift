/// How a publish ended.
public enum PublishOutcome: Hashable, Sendable {
    /// The broker has it, on disk.
    case confirmed
    /// No queue took it (`basic.return`), with the broker's text; the message is still ours.
    case returned(String)
    /// The broker refused it (`basic.nack`), for example because a queue is full; the message is still ours.
    case refused
    /// The broker takes this message never, whatever the state of its queues, with the reason; it is still ours.
    ///
    /// It closed the channel because of the message (`PRECONDITION_FAILED`, for example above its `max_message_size`),
    /// or AMQP cannot express the message.
    case rejected(String)
}
