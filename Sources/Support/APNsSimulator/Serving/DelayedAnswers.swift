/// The answers that wait for their time, earliest first: one timer serves them all.
struct DelayedAnswers {
    private var heap: [DelayedAnswer] = []

    /// When the earliest is due, or nil if none waits.
    var nextDueNanoseconds: UInt64? { heap.first?.dueNanoseconds }

    /// Adds an answer.
    mutating func insert(_ answer: DelayedAnswer) {
        heap.append(answer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isDue(before: heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest answer if it is due.
    mutating func popDue(atNanoseconds now: UInt64) -> DelayedAnswer? {
        guard let first = heap.first, first.dueNanoseconds <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isDue(before: heap[earliest]) { earliest = child }
            }
            guard earliest != parent else { return first }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }

    /// Forgets all.
    mutating func removeAll() { heap.removeAll() }
}
