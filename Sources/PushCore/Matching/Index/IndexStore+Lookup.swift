/// The steps in which the keys of a change are looked up, each of which asks for the memory that the next looks at.
///
/// A step that comes after the search was given up does nothing that matters.
extension IndexStore {
    /// Leaves the keys that the filter knows of, and asks for their slots.
    func askTheFilter(_ turn: inout MatchTurn) {
        for place in 0..<turn.probes.count {
            turn.hits.append(Candidate(probe: UInt32(place)), if: keyTable.mayHave(turn.probes[place].tableHash))
        }
        turn.record.steps += turn.hits.count
        for place in 0..<turn.hits.count { keyTable.prefetch(turn.probes[Int(turn.hits[place].probe)].tableHash) }
    }

    /// Reads what the key table has, and asks for the buckets.
    func readSlots(_ turn: inout MatchTurn) {
        for place in 0..<turn.hits.count {
            let first = keyTable.first(turn.probes[Int(turn.hits[place].probe)].tableHash)
            turn.hits[place].posting = first
            if first & BucketNode.mark != 0 {
                blocks.prefetch(BucketNode.address(first), lineCount: BucketNode.lineCount(first))
            } else if first != 0 {
                postings.prefetch(first)
            }
        }
    }

    /// Adds the candidates in the buckets, and asks for their postings.
    mutating func gather(_ turn: inout MatchTurn) {
        var place = 0
        // Further nodes are added behind all hits: each comes from memory while others are looked at.
        while place < turn.hits.count, turn.isComplete {
            let hit = turn.hits[place]
            if hit.posting & BucketNode.mark != 0 {
                gather(&turn, hit)
            } else if hit.posting != 0 {
                turn.record.steps += 1
                turn.candidates.append(hit)
            }
            place += 1
        }
    }

    private mutating func gather(_ turn: inout MatchTurn, _ hit: Candidate) {
        let node = BucketNode(words: blocks.pointer(BucketNode.address(hit.posting)))
        if node.next != 0 {
            blocks.prefetch(node.next, lineCount: BucketNode.longLines)
            turn.hits.append(Candidate(probe: hit.probe, posting: node.next | BucketNode.mark))
        }
        turn.record.steps += node.count
        turn.checkSteps()
        guard turn.isComplete else { return }
        let key = UInt32(truncatingIfNeeded: turn.probes[Int(hit.probe)].low)
        for place in 0..<node.count {
            let entry = node[place]
            guard entry.operations & turn.operations != 0, isLikely(&turn, entry, key) else { continue }
            postings.prefetch(entry.posting)
            turn.candidates.append(Candidate(probe: hit.probe, posting: entry.posting))
        }
    }

    /// Whether the bits of an entry are those of the sum that its posting asks for, where those of the key are known.
    @inline(__always)
    private mutating func isLikely(_ turn: inout MatchTurn, _ entry: BucketNode.Entry, _ key: UInt32) -> Bool {
        guard !entry.isShape else { return isLikely(&turn, shape: entry.proof, entry.check) }
        let digests = turn.memberDigests.pointer(0)
        var sum = UInt64(key)
        for part in 0..<BucketNode.Entry.membersMaximum {
            sum &+= digests[Int(entry.proof >> UInt32(6 * part) & 0x3F)].low
        }
        return UInt32(truncatingIfNeeded: sum) == entry.check
    }

    private mutating func isLikely(_ turn: inout MatchTurn, shape: UInt32, _ check: UInt32) -> Bool {
        guard let sum = sum(&turn, of: shape) else { return false }
        return UInt32(truncatingIfNeeded: sum.low) == check
    }

    /// Leaves the candidates that have the key, and asks for what it leaves to test.
    mutating func readPostings(_ turn: inout MatchTurn) {
        for place in 0..<turn.candidates.count {
            let posting = postings.pointer(turn.candidates[place].posting)
            let probe = turn.candidates[place].probe
            guard posting.pointee.operations & turn.operations != 0, hasKey(&turn, posting, probe) else {
                turn.candidates[place].posting = 0
                continue
            }
            turn.candidates[place].residual = posting.pointee.block
            if posting.pointee.block != 0 { blocks.prefetch(posting.pointee.block) }
        }
    }

    /// Whether the 96 bits of a posting are those of the key, or of the shape that it is proven by.
    private mutating func hasKey(
        _ turn: inout MatchTurn, _ posting: UnsafeMutablePointer<Posting>, _ probe: UInt32
    ) -> Bool {
        var sum = turn.probes[Int(probe)]
        if posting.pointee.proofShape != posting.pointee.keyShape {
            guard let full = self.sum(&turn, of: posting.pointee.proofShape) else { return false }
            sum = full
        }
        return posting.pointee.low == sum.low && posting.pointee.middle == sum.middle
    }

    /// Finds the predicates of the candidates that hold, and ends the lookup.
    mutating func prove(_ turn: inout MatchTurn) {
        for place in 0..<turn.candidates.count where turn.candidates[place].posting != 0 && turn.isComplete {
            let candidate = turn.candidates[place]
            if candidate.residual != 0 {
                turn.checkSteps()
                guard turn.isComplete, holds(&turn, candidate) else { continue }
            }
            find(&turn, candidate.posting)
        }
        turn.checkSteps()
        turn.endLookup()
    }

    /// Whether what the key leaves to test holds.
    private mutating func holds(_ turn: inout MatchTurn, _ candidate: Candidate) -> Bool {
        let words = blocks.pointer(candidate.residual)
        let isFurther = postings.pointer(candidate.posting).pointee.isFurther
        let residual = isFurther ? UnsafePointer(words) : PredicateBlock(words: words).firstResidual
        guard let residual else { return true }
        tellPaths(turn)
        return turn.record.satisfies(residual, paths, change: turn.change)
    }

    private func find(_ turn: inout MatchTurn, _ number: UInt32) {
        let posting = postings.pointer(number)
        let first = posting.pointee.isFurther ? posting.pointee.link : number
        let entry = postings.pointer(first)
        guard !entry.pointee.isFound else { return }
        entry.pointee.isFound = true
        turn.found.append(first)
    }
}
