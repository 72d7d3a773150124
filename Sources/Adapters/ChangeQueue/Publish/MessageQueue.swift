import PushCore

/// What waits to be published, in order.
struct MessageQueue {
    private var messages: [OutgoingMessage] = []
    private var head = 0

    var isEmpty: Bool { head == messages.count }

    var first: OutgoingMessage? { head < messages.count ? messages[head] : nil }

    mutating func append(_ added: [OutgoingMessage]) {
        if head > 1_024, 2 * head > messages.count { compact() }
        messages.append(contentsOf: added)
    }

    mutating func removeFirst() {
        // The body would otherwise live on until the space is used again.
        messages[head].message.body = []
        head += 1
        if head == messages.count {
            messages.removeAll(keepingCapacity: messages.count <= 4_096)
            head = 0
        }
    }

    /// Puts messages before all others.
    mutating func prepend(_ added: [OutgoingMessage]) {
        compact()
        messages.insert(contentsOf: added, at: 0)
    }

    private mutating func compact() {
        messages.removeFirst(head)
        head = 0
    }
}
