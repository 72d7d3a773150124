/// The subscribers of a predicate: one row in most cases, or a list of nodes.
///
/// The row table leads to the posting that has the row, or to the node, with a mark.
extension IndexStore {
    /// Where a row is looked up.
    func hash(_ row: Int64) -> UInt32 { hashes.of(row: row).tableHash }

    /// The row table's entry for a row; 0 if the row is not there.
    private func reference(_ row: Int64) -> UInt32 {
        rowTable.first(hash(row)) { reference in
            guard reference & SubscriberNode.mark != 0 else { return postings.pointer(reference).pointee.row == row }
            return nodes.pointer(reference & ~SubscriberNode.mark).pointee.index(of: row) != nil
        }
    }

    /// Adds the first subscriber of a predicate.
    mutating func addFirstSubscriber(_ row: Int64, to posting: UInt32) {
        rowTable.add(hash(row), posting)
        postings.pointer(posting).pointee.row = row
    }

    /// Adds a subscriber to a predicate that has one already.
    mutating func addSubscriber(_ row: Int64, to posting: UInt32) {
        if !postings[posting].hasList {
            let only = postings[posting].row
            let node = nodes.add(SubscriberNode(posting: posting, next: 0))
            postings.pointer(posting).pointee.link = node
            postings.pointer(posting).pointee.hasList = true
            rowTable.replace(hash(only), posting, by: node | SubscriberNode.mark)
            put(only, into: node)
        }
        var node = postings[posting].link
        if nodes.pointer(node).pointee.count == SubscriberNode.capacity {
            let newer = nodes.add(SubscriberNode(posting: posting, next: node))
            nodes.pointer(node).pointee.previous = newer
            postings.pointer(posting).pointee.link = newer
            node = newer
        }
        rowTable.add(hash(row), node | SubscriberNode.mark)
        put(row, into: node)
    }

    private func put(_ row: Int64, into node: UInt32) {
        let entry = nodes.pointer(node)
        entry.pointee.rows[Int(entry.pointee.count)] = row
        entry.pointee.count += 1
    }

    /// Removes a subscriber.
    ///
    /// - Returns: whether it was there, and the first posting of its predicate, if that has no subscriber left.
    mutating func removeSubscriber(_ row: Int64) -> (wasThere: Bool, orphan: UInt32) {
        let reference = reference(row)
        guard reference != 0 else { return (false, 0) }
        rowTable.remove(hash(row), reference)
        guard reference & SubscriberNode.mark != 0 else { return (true, reference) }
        let node = reference & ~SubscriberNode.mark
        let entry = nodes.pointer(node)
        if let index = entry.pointee.index(of: row) {
            entry.pointee.rows[index] = entry.pointee.rows[Int(entry.pointee.count) - 1]
            entry.pointee.count -= 1
        }
        tidy(node)
        return (true, 0)
    }

    /// Joins a node that is nearly empty with the next, and makes the last of a list the only one.
    private mutating func tidy(_ node: UInt32) {
        let entry = nodes.pointer(node)
        let older = entry.pointee.next
        let newer = entry.pointee.previous
        if older == 0, newer == 0 {
            guard entry.pointee.count == 1 else { return }
            let only = entry.pointee.rows[0]
            rowTable.replace(hash(only), node | SubscriberNode.mark, by: entry.pointee.posting)
            postings.pointer(entry.pointee.posting).pointee.hasList = false
            postings.pointer(entry.pointee.posting).pointee.row = only
        } else {
            let room = older == 0 ? 0 : SubscriberNode.capacity - Int(nodes.pointer(older).pointee.count)
            guard entry.pointee.count <= min(room, SubscriberNode.capacity / 4) else { return }
            for index in 0..<Int(entry.pointee.count) {
                let row = entry.pointee.rows[index]
                rowTable.replace(hash(row), node | SubscriberNode.mark, by: older | SubscriberNode.mark)
                put(row, into: older)
            }
            if older != 0 { nodes.pointer(older).pointee.previous = newer }
            if newer != 0 {
                nodes.pointer(newer).pointee.next = older
            } else {
                postings.pointer(entry.pointee.posting).pointee.link = older
            }
        }
        nodes.remove(node)
        // Its neighbour may have only one row left, and be the only node now.
        if older != 0 || newer != 0 { tidy(older != 0 ? older : newer) }
    }

    /// Appends the rows of all subscribers of a predicate.
    @inline(__always)
    func appendRows(of posting: UnsafePointer<Posting>, to rows: inout [Int64]) {
        guard posting.pointee.hasList else {
            rows.append(posting.pointee.row)
            return
        }
        var node = posting.pointee.link
        while node != 0 {
            let entry = nodes.pointer(node)
            for index in 0..<Int(entry.pointee.count) { rows.append(entry.pointee.rows[index]) }
            node = entry.pointee.next
        }
    }
}

/// Some of the many subscribers of a predicate.
struct SubscriberNode: BitwiseCopyable {
    /// How many subscribers fit, so that a node has 128 bytes.
    static let capacity = 14
    /// In a slot of the row table, the mark of a node's number.
    static let mark: UInt32 = 1 << 31

    /// The first posting of the predicate.
    var posting: UInt32
    /// The older node; 0 if there is none.
    var next: UInt32
    /// The newer node; 0 if there is none.
    var previous: UInt32 = 0
    /// How many subscribers are in it.
    var count: UInt32 = 0
    /// Their rows, the first `count` of them.
    var rows = InlineArray<14, Int64>(repeating: 0)

    init(posting: UInt32, next: UInt32) {
        self.posting = posting
        self.next = next
    }

    /// The index of a row; nil if it is not in the node.
    func index(of row: Int64) -> Int? { (0..<Int(count)).first { rows[$0] == row } }
}
