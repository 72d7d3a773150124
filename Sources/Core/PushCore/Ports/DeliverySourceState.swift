/// How a `DeliverySource` is doing.
public enum DeliverySourceState: Hashable, Sendable {
    /// Consuming; deliveries carry this epoch from now on.
    case consuming(epoch: UInt32)
    /// Not consuming: connecting, or waiting to connect again. Everything unacknowledged of the last epoch will come
    /// again.
    case interrupted(reason: String)
    /// The broker is there, but a queue is missing or may not be used: an operator has to act. It is tried again.
    case misconfigured(reason: String)
    /// Cancelled at our own wish.
    case cancelled
}
