/// Why something may not wait in a queue.
enum FairQueueRefusal: Hashable, Sendable {
    /// Its owner lets too many wait.
    case share
    /// There are too many, and its owner has no fewer than others.
    case full
}
