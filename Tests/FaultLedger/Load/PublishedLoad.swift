/// What a `LoadPublisher` has done so far.
struct PublishedLoad: Sendable {
    /// All events that were handed to the broker, by number.
    var events: [LedgerEvent] = []
    /// When each confirmed event was confirmed, in milliseconds since 1970.
    var confirmedMilliseconds: [Int: Int64] = [:]
    /// How many events await what the broker says of them.
    var openCount = 0
    /// How often the connection was lost, or could not be made.
    var interruptionCount = 0
    /// How many publishes came back because no queue took them, or were refused.
    var refusedCount = 0
    /// Whether the broker asked it to publish nothing for now.
    var isBlocked = false
    /// Why the connection ended the last time.
    var lastInterruption = ""

    /// All that in a few words, for an error.
    var summary: String {
        "\(events.count) attempted, \(confirmedMilliseconds.count) confirmed, \(openCount) open, "
            + "\(refusedCount) refused, \(interruptionCount) interruptions, blocked: \(isBlocked), \(lastInterruption)"
    }
}
