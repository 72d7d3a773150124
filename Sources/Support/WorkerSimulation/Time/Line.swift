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
