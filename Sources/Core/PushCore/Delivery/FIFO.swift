/// A queue in one array: appended at its end, taken from a moving front, compacted now and then.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var front = 0

    var isEmpty: Bool { front == elements.count }

    var first: Element? { isEmpty ? nil : elements[front] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            front += 1
            if front == elements.count {
                elements.removeAll(keepingCapacity: true)
                front = 0
            } else if front > 1_024, front > elements.count / 2 {
                elements.removeFirst(front)
                front = 0
            }
        }
        return elements[front]
    }
}
