import PushCore

/// A message that a worker has handed to its publisher, and that has no outcome yet.
struct OutgoingPublish {
    var worker: Int
    var generation: Int
    var identifier: UInt64
    var queue: Int?
    var message: Message
    var event: Int
    /// Tells which was handed over before.
    var sequence: UInt64
    /// Which connection carries it; what an earlier one does with it has no effect on the worker.
    var connection: Int
    /// Whether the broker has it, so that only the confirm is under way.
    var hasArrived = false
}
