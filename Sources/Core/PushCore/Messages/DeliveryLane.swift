/// Which queue a delivery came from.
public enum DeliveryLane: Sendable {
    /// `apus.work`: events and retries.
    case work
    /// `apus.fanout`: the continuation of large fan-outs.
    case fanout
}
