import Notifications

/// A push that a worker has sent and that has not ended.
struct SentPush {
    var worker: Int
    var generation: Int
    var identifier: UInt64
    var event: Int
    /// Its place among the pushes that the event asks for; nil if nothing asks for it.
    var place: Int?
    var device: Int
    var outcome: PushOutcome
    /// Whether the service takes it, which only a worker that gets the answer learns.
    var isTaken: Bool
    var sentNanoseconds: UInt64
}
