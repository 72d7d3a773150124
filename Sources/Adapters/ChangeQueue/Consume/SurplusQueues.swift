/// The work queues beyond those that the configuration asks for, which a worker empties and then lets go of.
///
/// `apus topology apply` deletes such a queue when nobody consumes it, so a worker must not hold on to one that is
/// empty; nor may it forget one that still gets events, because nobody has applied the new number yet. So it stops
/// consuming a queue that was quiet for a while, and looks again from time to time.
struct SurplusQueues {
    private struct Queue {
        var isConsumed = true
        var isQuiet = true
        var heldCount = 0
    }

    /// A look costs a connection, and what comes meanwhile waits for it.
    private static let ticksBetweenLooksMaximum = 4

    private var queues: [String: Queue]
    private var ticksBetweenLooks = 1
    private var ticksUntilLook = 1
    /// The deliveries of these queues that are not settled.
    private var held: [UInt64: String] = [:]

    /// Begins with queues that are consumed.
    init(tags: [String] = []) { queues = Dictionary(uniqueKeysWithValues: tags.map { ($0, Queue()) }) }

    var isEmpty: Bool { queues.isEmpty }

    var count: Int { queues.count }

    /// The tags of all of them, consumed or not.
    var tags: [String] { queues.keys.sorted() }

    /// Those that are not consumed, to be looked at again.
    var unconsumedTags: [String] { queues.filter { !$0.value.isConsumed }.keys.sorted() }

    /// A delivery came, of any queue.
    mutating func received(_ number: UInt64, tag: String) {
        guard queues[tag] != nil else { return }
        held[number] = tag
        queues[tag]?.heldCount += 1
        queues[tag]?.isQuiet = false
    }

    /// The work of a delivery has ended, of any queue.
    mutating func settled(_ number: UInt64) {
        guard let tag = held.removeValue(forKey: number) else { return }
        queues[tag]?.heldCount -= 1
    }

    /// Time has passed: gives those that brought nothing since the last time and of which nothing is held.
    ///
    /// They count as not consumed from now on.
    mutating func takeQuiet() -> [String] {
        var quiet: [String] = []
        for (tag, queue) in queues where queue.isConsumed {
            let isDone = queue.isQuiet && queue.heldCount == 0
            queues[tag]?.isQuiet = true
            guard isDone else { continue }
            queues[tag]?.isConsumed = false
            quiet.append(tag)
        }
        return quiet.sorted()
    }

    /// Time has passed: whether to look at the queues that are not consumed.
    mutating func isLookDue() -> Bool {
        ticksUntilLook -= 1
        return ticksUntilLook <= 0 && queues.contains { !$0.value.isConsumed }
    }

    /// A look has ended; those that find nothing become rarer.
    mutating func looked(hasFoundMessages: Bool) {
        ticksBetweenLooks = hasFoundMessages ? 1 : min(2 * ticksBetweenLooks, Self.ticksBetweenLooksMaximum)
        ticksUntilLook = ticksBetweenLooks
    }

    /// A queue is consumed again.
    mutating func consume(_ tag: String) {
        queues[tag]?.isConsumed = true
        queues[tag]?.isQuiet = false
    }

    /// A queue is not there any more.
    mutating func remove(_ tag: String) { queues[tag] = nil }
}
