/// The postings with the same bits in the key table: one in most cases, or a list of nodes.
extension IndexStore {
    /// Puts a posting where its key finds it.
    mutating func addToBucket(_ number: UInt32) {
        let hash = postings[number].tableHash
        let first = keyTable.first(hash)
        guard first != 0 else {
            keyTable.add(hash, number)
            return
        }
        var head = first & ~BucketNode.mark
        if first & BucketNode.mark == 0 {
            let node = addNode(capacity: BucketNode.capacity(after: 0), next: 0)
            keyTable.replace(hash, first, by: node | BucketNode.mark)
            put(first, into: node)
            head = node
        }
        let node = BucketNode(words: blocks.pointer(head))
        if node.count == node.capacity {
            let newer = addNode(capacity: BucketNode.capacity(after: node.capacity), next: head)
            BucketNode(words: blocks.pointer(head)).previous = newer
            keyTable.replace(hash, head | BucketNode.mark, by: newer | BucketNode.mark)
            head = newer
        }
        put(number, into: head)
    }

    private mutating func addNode(capacity: Int, next: UInt32) -> UInt32 {
        let address = blocks.allocate(wordCount: BucketNode.wordCount(capacity: capacity))
        let node = BucketNode(words: blocks.pointer(address))
        node.next = next
        node.previous = 0
        node.count = 0
        node.capacity = capacity
        return address
    }

    private func put(_ number: UInt32, into address: UInt32) {
        let node = BucketNode(words: blocks.pointer(address))
        node[node.count] = glimpse(of: number)
        node.count += 1
        postings[number].node = address
    }

    /// What a node tells of a posting.
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
        var places = BucketNode.Entry.noMembers
        while further != 0 {
            places = places << 6 | UInt32(further.trailingZeroBitCount)
            further &= further - 1
        }
        return places & BucketNode.Entry.noMembers
    }

    /// Removes a posting from where its key finds it.
    mutating func removeFromBucket(_ number: UInt32) {
        let posting = postings[number]
        guard posting.node != 0 else {
            keyTable.remove(posting.tableHash, number)
            return
        }
        // The newest entry fills the hole, so that all nodes but the first stay full.
        let first = keyTable.first(posting.tableHash)
        let head = BucketNode(words: blocks.pointer(first & ~BucketNode.mark))
        let node = BucketNode(words: blocks.pointer(posting.node))
        let newest = head[head.count - 1]
        for place in 0..<node.count where node[place].posting == number { node[place] = newest }
        postings[newest.posting].node = posting.node
        head.count -= 1
        if head.count == 0 {
            let next = head.next
            blocks.release(first & ~BucketNode.mark, wordCount: BucketNode.wordCount(capacity: head.capacity))
            BucketNode(words: blocks.pointer(next)).previous = 0
            keyTable.replace(posting.tableHash, first, by: next | BucketNode.mark)
        } else if head.count == 1, head.next == 0 {
            let only = head[0].posting
            postings[only].node = 0
            blocks.release(first & ~BucketNode.mark, wordCount: BucketNode.wordCount(capacity: head.capacity))
            keyTable.replace(posting.tableHash, first, by: only)
        }
    }

    /// How many postings lie under a key; counted no further than to a maximum.
    func bucketLength(_ key: WordDigest, countMaximum: Int) -> Int {
        let first = keyTable.first(key.tableHash)
        guard first & BucketNode.mark != 0 else { return first == 0 ? 0 : 1 }
        var length = 0
        var address = first & ~BucketNode.mark
        while address != 0, length < countMaximum {
            let node = BucketNode(words: blocks.pointer(address))
            length += node.count
            address = node.next
        }
        return length
    }
}
