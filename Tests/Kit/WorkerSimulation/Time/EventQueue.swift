/// Events by their time, the earliest first; events of the same time come in the order of scheduling.
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

    private mutating func siftUp(_ index: Int) {
        var index = index
        let entry = heap[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry < heap[parent] else { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = entry
    }

    private mutating func siftDown() {
        var index = 0
        let entry = heap[0]
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < entry else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = entry
    }
}

/// A queue that grows at both ends.
struct Line<Element> {
    private var front: [Element] = []
    private var elements: [Element] = []
    private var head = 0

    var count: Int { front.count + elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { front.last ?? (head < elements.count ? elements[head] : nil) }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func putInFront(_ element: Element) { front.append(element) }

    mutating func popFirst() -> Element? {
        if let element = front.popLast() { return element }
        guard head < elements.count else { return nil }
        defer {
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 4_096, 2 * head > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}

/// Values under small numbers, which are given out again when a value is taken out.
struct Slots<Value> {
    private var values: [Value?] = []
    private var free: [UInt32] = []

    var count: Int { values.count - free.count }
    /// The numbers in use, ascending.
    var numbers: [UInt32] { values.indices.filter { values[$0] != nil }.map { UInt32($0) } }

    mutating func insert(_ value: Value) -> UInt32 {
        if let number = free.popLast() {
            values[Int(number)] = value
            return number
        }
        values.append(value)
        return UInt32(values.count - 1)
    }

    mutating func remove(_ number: UInt32) -> Value? {
        guard let value = values[Int(number)] else { return nil }
        values[Int(number)] = nil
        free.append(number)
        return value
    }

    subscript(number: UInt32) -> Value? {
        get { values[Int(number)] }
        set { values[Int(number)] = newValue }
    }
}
