/// The timers of one loop: a binary heap by due time, cancelled lazily.
struct TimerHeap {
    struct Entry {
        let dueNanoseconds: UInt64
        let identifier: UInt64
    }

    private var entries: [Entry] = []
    private var handlers: [UInt64: () -> Void] = [:]

    /// The due time of the earliest live timer.
    var nextDueNanoseconds: UInt64? {
        mutating get {
            while let first = entries.first, handlers[first.identifier] == nil { removeFirst() }
            return entries.first?.dueNanoseconds
        }
    }

    mutating func insert(dueNanoseconds: UInt64, identifier: UInt64, handler: @escaping () -> Void) {
        handlers[identifier] = handler
        entries.append(Entry(dueNanoseconds: dueNanoseconds, identifier: identifier))
        siftUp(from: entries.count - 1)
    }

    mutating func cancel(_ identifier: UInt64) {
        handlers[identifier] = nil
        // Lazily cancelled entries must not pile up under a load that sets and cancels a timer for each request.
        if entries.count > 64, entries.count > 4 * handlers.count { compact() }
    }

    /// Takes the earliest timer that is due, or nothing.
    mutating func popDue(atNanoseconds now: UInt64) -> (() -> Void)? {
        while let first = entries.first, first.dueNanoseconds <= now {
            removeFirst()
            if let handler = handlers.removeValue(forKey: first.identifier) { return handler }
        }
        return nil
    }

    private mutating func compact() {
        entries.removeAll { handlers[$0.identifier] == nil }
        for index in stride(from: entries.count / 2, through: 0, by: -1) { siftDown(from: index) }
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        siftDown(from: 0)
    }

    private mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].dueNanoseconds < entries[parent].dueNanoseconds else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].dueNanoseconds < entries[smallest].dueNanoseconds { smallest = child }
            }
            guard smallest != parent else { return }
            entries.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
