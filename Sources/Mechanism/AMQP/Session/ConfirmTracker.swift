/// The unconfirmed publishes of one channel, and the broker's answers to them.
///
/// A return comes before the confirm of the same publish, and names it by the number that the publish carried in
/// `cluster-id`. Neither order nor content would identify a publish for certain.
public struct ConfirmTracker: Sendable {
    /// How one publish ended.
    public struct Outcome: Hashable, Sendable {
        /// The publisher's index of the publish.
        public let index: Int
        /// Nil if the broker has the message, else why it does not.
        public let failure: String?
        /// Whether no queue took it, as opposed to a queue that refused it.
        public let isReturned: Bool
    }

    private struct Entry {
        var index: Int
        var returned: String?
    }

    private var entries: [Entry?] = []
    /// The number of the first entry.
    private var firstNumber: UInt64 = 1
    private var openCount = 0

    /// Creates an empty ledger for a new channel.
    public init() {}

    /// Whether every publish has had its outcome.
    public var isEmpty: Bool { openCount == 0 }

    /// How many publishes await their confirm.
    public var count: Int { openCount }

    /// Enters a publish; numbers are consecutive.
    public mutating func published(_ number: UInt64, index: Int) {
        if openCount == 0 {
            entries.removeAll(keepingCapacity: true)
            firstNumber = number
        }
        precondition(number == firstNumber + UInt64(entries.count), "the numbers of publishes have no gaps")
        entries.append(Entry(index: index))
        openCount += 1
    }

    /// How many publishes lie between the oldest that awaits its confirm and the newest.
    public var span: Int { openCount == 0 ? 0 : entries.count }

    /// The publisher's indices of the unconfirmed publishes, in the order of publishing.
    public var openIndices: [Int] { entries.compactMap { $0?.index } }

    /// The publisher's index of the oldest unconfirmed publish.
    public var oldestIndex: Int? { entries.first { $0 != nil }??.index }

    /// Takes an answer of the broker, and adds the outcomes that follow from it.
    public mutating func take(_ event: AMQPEvent, into outcomes: inout [Outcome]) {
        switch event {
        case .returned(let returned):
            guard let number = returned.number, let slot = slot(number) else { return }
            entries[slot]?.returned = "\(returned.text) (\(returned.code))"
        case .confirmed(let number, let isMultiple, let isAccepted):
            confirm(number, isMultiple: isMultiple, isAccepted: isAccepted, into: &outcomes)
        case .consumerEnded, .consumerCancelled, .blocked, .unblocked: break
        }
    }

    private mutating func confirm(
        _ number: UInt64, isMultiple: Bool, isAccepted: Bool, into outcomes: inout [Outcome]
    ) {
        // RabbitMQ says 0 for "all" when it confirms everything at once.
        let last = isMultiple && number == 0 ? entries.count - 1 : slot(number)
        guard let last else { return }
        for slot in (isMultiple ? 0 : last)...max(last, 0) where slot < entries.count {
            guard let entry = entries[slot] else { continue }
            entries[slot] = nil
            openCount -= 1
            let failure = isAccepted ? entry.returned : entry.returned ?? "the broker refused it (a queue is full)"
            outcomes.append(Outcome(index: entry.index, failure: failure, isReturned: entry.returned != nil))
        }
        compact()
    }

    private func slot(_ number: UInt64) -> Int? {
        guard number >= firstNumber, number - firstNumber < UInt64(entries.count) else { return nil }
        return Int(number - firstNumber)
    }

    /// Drops the finished entries at the front once they are the greater part.
    private mutating func compact() {
        guard entries.count > 64, entries[0] == nil else { return }
        guard let first = entries.firstIndex(where: { $0 != nil }) else { return }
        entries.removeFirst(first)
        firstNumber += UInt64(first)
    }
}
