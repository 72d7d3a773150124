/// What is to happen at which time, the earliest first; what is due at the same time comes in the order of scheduling.
///
/// A binary heap. It holds small values only, because they are moved often.
struct EventQueue<Element> {
    private struct Entry {
        var nanoseconds: UInt64
        var order: UInt64
        var element: Element

        static func < (left: Entry, right: Entry) -> Bool {
            left.nanoseconds != right.nanoseconds ? left.nanoseconds < right.nanoseconds : left.order < right.order
        }
    }

    private var heap: [Entry] = []
    private var lastOrder: UInt64 = 0

    var count: Int { heap.count }
    /// When the next one is due.
    var nextNanoseconds: UInt64? { heap.first?.nanoseconds }

    mutating func schedule(_ element: Element, atNanoseconds nanoseconds: UInt64) {
        lastOrder += 1
        heap.append(Entry(nanoseconds: nanoseconds, order: lastOrder, element: element))
        siftUp(heap.count - 1)
    }

    mutating func popFirst() -> (nanoseconds: UInt64, element: Element)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        return (first.nanoseconds, first.element)
    }

    private mutating func siftUp(_ place: Int) {
        var place = place
        let entry = heap[place]
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry < heap[parent] else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = entry
    }

    private mutating func siftDown() {
        var place = 0
        let entry = heap[0]
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < entry else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = entry
    }
}
