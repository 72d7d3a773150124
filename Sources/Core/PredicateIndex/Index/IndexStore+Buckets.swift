import Hashing

/// The postings with the same bits in the key table: one in most cases, or a list of nodes.
extension IndexStore {
    /// Puts a posting where its key finds it.
    mutating func addToBucket(_ number: UInt32) {
        let hash = postings.location(of: number).pointee.tableHash
        let first = keyTable.first(hash)
        guard first != 0 else {
            keyTable.add(hash, number)
            return
        }
        guard first & BucketNode.mark != 0 else {
            let node = addNode(capacity: BucketNode.firstCapacity, next: 0)
            put(first, into: node)
            put(number, into: node)
            keyTable.replace(hash, first, by: BucketNode.reference(node, capacity: BucketNode.firstCapacity))
            return
        }
        var head = BucketNode.address(first)
        let node = BucketNode(words: blocks.pointer(head))
        if node.count == node.capacity {
            let larger = BucketNode.capacity(for: node.count + 1)
            let capacity = larger ?? BucketNode.firstCapacity
            head = larger == nil ? addNode(capacity: capacity, next: head) : moved(head, capacity: capacity)
            keyTable.replace(hash, first, by: BucketNode.reference(head, capacity: capacity))
        }
        put(number, into: head)
    }

    private mutating func addNode(capacity: Int, next: UInt32) -> UInt32 {
        let address = blocks.allocate(wordCount: BucketNode.wordCount(capacity: capacity))
        let node = BucketNode(words: blocks.pointer(address))
        node.begin(capacity: capacity, next: next)
        return address
    }

    /// Moves the first node of a bucket to where more fit, or fewer; returns its address.
    private mutating func moved(_ address: UInt32, capacity: Int) -> UInt32 {
        let old = BucketNode(words: blocks.pointer(address))
        let moved = addNode(capacity: capacity, next: old.next)
        let node = BucketNode(words: blocks.pointer(moved))
        for index in 0..<old.count { postings.prefetchLocation(of: old[index].posting) }
        for index in 0..<old.count {
            node[index] = old[index]
            postings.location(of: old[index].posting).pointee.node = moved
        }
        node.count = old.count
        blocks.release(address, wordCount: BucketNode.wordCount(capacity: old.capacity))
        return moved
    }

    private func put(_ number: UInt32, into address: UInt32) {
        let node = BucketNode(words: blocks.pointer(address))
        node[node.count] = glimpse(of: number)
        node.count += 1
        postings.location(of: number).pointee.node = address
    }

    /// A node's entry for a posting.
    private func glimpse(of number: UInt32) -> BucketNode.Entry {
        let posting = postings[number]
        var entry = BucketNode.Entry(
            posting: number, operations: posting.operations, proof: BucketNode.Entry.noMembers,
            check: UInt32(truncatingIfNeeded: posting.low))
        guard posting.proofShape != posting.keyShape else { return entry }
        if let proof = furtherMembers(of: posting) {
            entry.proof = proof
        } else {
            entry.isShape = true
            entry.proof = posting.proofShape
        }
        return entry
    }

    /// The members that the proof shape of a posting has beside its key; nil if they are too many, or not known.
    private func furtherMembers(of posting: Posting) -> UInt32? {
        let key = shapes.pointer(posting.keyShape).pointee.members
        var further = shapes.pointer(posting.proofShape).pointee.members & ~key
        guard key != 0, further != 0, further.nonzeroBitCount <= BucketNode.Entry.membersMaximum else { return nil }
        var indices = BucketNode.Entry.noMembers
        while further != 0 {
            indices = indices << 6 | UInt32(further.trailingZeroBitCount)
            further &= further - 1
        }
        return indices & BucketNode.Entry.noMembers
    }

    /// Removes a posting from where its key finds it.
    mutating func removeFromBucket(_ number: UInt32) {
        let location = postings.location(of: number).pointee
        guard location.node != 0 else {
            keyTable.remove(location.tableHash, number)
            return
        }
        // The newest entry fills the hole, so that all nodes but the first stay full.
        let first = keyTable.first(location.tableHash)
        let address = BucketNode.address(first)
        let head = BucketNode(words: blocks.pointer(address))
        let node = BucketNode(words: blocks.pointer(location.node))
        let newest = head[head.count - 1]
        for entry in 0..<node.count where node[entry].posting == number { node[entry] = newest }
        postings.location(of: newest.posting).pointee.node = location.node
        head.count -= 1
        if let replacement = shrunk(address) { keyTable.replace(location.tableHash, first, by: replacement) }
    }

    /// Makes the first node of a bucket smaller if it has far too much room; returns what its slot has from now on.
    private mutating func shrunk(_ address: UInt32) -> UInt32? {
        let head = BucketNode(words: blocks.pointer(address))
        if head.count == 0 {
            let next = head.next
            blocks.release(address, wordCount: BucketNode.wordCount(capacity: head.capacity))
            return BucketNode.reference(next, capacity: BucketNode(words: blocks.pointer(next)).capacity)
        }
        if head.count == 1, head.next == 0 {
            let only = head[0].posting
            postings.location(of: only).pointee.node = 0
            blocks.release(address, wordCount: BucketNode.wordCount(capacity: head.capacity))
            return only
        }
        guard head.count <= head.capacity / 4, let capacity = BucketNode.capacity(for: 2 * head.count) else {
            return nil
        }
        return BucketNode.reference(moved(address, capacity: capacity), capacity: capacity)
    }

    /// How many postings lie under a key; counted no further than to a maximum.
    func bucketLength(_ key: WordDigest, countMaximum: Int) -> Int {
        let first = keyTable.first(key.tableHash)
        guard first & BucketNode.mark != 0 else { return first == 0 ? 0 : 1 }
        var length = 0
        var address = BucketNode.address(first)
        while address != 0, length < countMaximum {
            let node = BucketNode(words: blocks.pointer(address))
            length += node.count
            address = node.next
        }
        return length
    }
}
