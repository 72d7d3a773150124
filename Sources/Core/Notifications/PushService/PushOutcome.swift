/// The three ways in which an attempt ends; they are never lumped together.
public enum PushOutcome: Hashable, Sendable {
    /// The push service answered.
    case answered(PushAnswer)
    /// The request was certainly not processed: never written, refused, or above GOAWAY's last stream. Resending it
    /// cannot make a duplicate.
    case notProcessed(String)
    /// Nobody can know: the deadline passed or the connection was lost after the request was written. Resending it may
    /// make a duplicate, so it keeps its `apns-id`.
    case ambiguous(String)
}
