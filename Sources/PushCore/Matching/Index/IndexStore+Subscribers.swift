/// Who subscribes with a predicate: one in most cases, or a list of nodes.
extension IndexStore {
    /// Where a row is looked up.
    private func hash(_ row: Int64) -> UInt32 { hashes.of(row: row).tableHash }

    /// The subscriber of a row; 0 if there is none.
    func subscriber(_ row: Int64) -> UInt32 { rowTable.first(hash(row)) { subscribers[$0].row == row } }

    /// The first posting of the predicate that a subscriber subscribes with.
    func posting(ofSubscriber number: UInt32) -> UInt32 {
        let entry = subscribers[number]
        return entry.node.map { nodes.pointer($0).pointee.posting } ?? entry.posting
    }

    /// Adds the first subscriber of a predicate.
    mutating func addFirstSubscriber(_ row: Int64, to posting: UInt32) {
        let number = subscribers.add(SubscriberEntry(row: row, posting: posting))
        rowTable.add(hash(row), number)
        postings[posting].link = number
    }

    /// Adds a subscriber to a predicate that has one already.
    mutating func addSubscriber(_ row: Int64, to posting: UInt32) {
        let number = subscribers.add(SubscriberEntry(row: row, posting: posting))
        rowTable.add(hash(row), number)
        if !postings[posting].hasList {
            let only = postings[posting].link
            let node = nodes.add(SubscriberNode(posting: posting, next: 0))
            postings[posting].link = node
            postings[posting].hasList = true
            put(only, into: node)
        }
        var node = postings[posting].link
        if nodes.pointer(node).pointee.count == SubscriberNode.capacity {
            let newer = nodes.add(SubscriberNode(posting: posting, next: node))
            nodes.pointer(node).pointee.previous = newer
            postings[posting].link = newer
            node = newer
        }
        put(number, into: node)
    }

    private mutating func put(_ subscriber: UInt32, into node: UInt32) {
        let entry = nodes.pointer(node)
        entry.pointee.members[Int(entry.pointee.count)] = subscriber
        entry.pointee.count += 1
        subscribers[subscriber].node = node
    }

    /// Removes a subscriber; tells whether its predicate has none left.
    mutating func removeSubscriber(_ number: UInt32) -> Bool {
        rowTable.remove(hash(subscribers[number].row), number)
        let node = subscribers[number].node
        subscribers.remove(number)
        guard let node else { return true }
        let entry = nodes.pointer(node)
        let last = Int(entry.pointee.count) - 1
        for place in 0..<last where entry.pointee.members[place] == number {
            entry.pointee.members[place] = entry.pointee.members[last]
        }
        entry.pointee.count -= 1
        tidy(node)
        return false
    }

    /// Joins a node that is nearly empty with the next, and makes the last of a list the only one.
    private mutating func tidy(_ node: UInt32) {
        let entry = nodes.pointer(node)
        let older = entry.pointee.next
        let newer = entry.pointee.previous
        if older == 0, newer == 0 {
            guard entry.pointee.count == 1 else { return }
            let only = entry.pointee.members[0]
            subscribers[only].posting = entry.pointee.posting
            postings[entry.pointee.posting].link = only
            postings[entry.pointee.posting].hasList = false
            nodes.remove(node)
        } else {
            let room = older == 0 ? 0 : SubscriberNode.capacity - Int(nodes.pointer(older).pointee.count)
            guard entry.pointee.count <= min(room, SubscriberNode.capacity / 4) else { return }
            for place in 0..<Int(entry.pointee.count) { put(entry.pointee.members[place], into: older) }
            if older != 0 { nodes.pointer(older).pointee.previous = newer }
            if newer != 0 {
                nodes.pointer(newer).pointee.next = older
            } else {
                postings[entry.pointee.posting].link = older
            }
            nodes.remove(node)
        }
    }

    /// Appends the rows of all subscribers of a predicate.
    func appendRows(of posting: borrowing Posting, to rows: inout [Int64]) {
        guard posting.hasList else {
            rows.append(subscribers[posting.link].row)
            return
        }
        var node = posting.link
        while node != 0 {
            let entry = nodes.pointer(node)
            for place in 0..<Int(entry.pointee.count) { rows.append(subscribers[entry.pointee.members[place]].row) }
            node = entry.pointee.next
        }
    }
}
