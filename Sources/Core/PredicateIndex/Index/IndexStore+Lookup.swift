import Hashing

/// The steps of looking up the keys of a change; each prefetches the memory for the next.
///
/// After the search has stopped at its limit, further steps have no effect.
extension IndexStore {
    /// Leaves the keys that the filter knows of, and asks for their slots.
    func askTheFilter(_ turn: inout MatchContext) {
        for index in 0..<turn.probes.count {
            turn.hits.append(Candidate(probe: UInt32(index)), if: keyTable.mayHave(turn.probes[index].tableHash))
        }
        turn.record.steps += turn.hits.count
        for index in 0..<turn.hits.count { keyTable.prefetch(turn.probes[Int(turn.hits[index].probe)].tableHash) }
    }

    /// Reads the slots of the key table: nodes stay, and are prefetched; single postings become candidates.
    func readSlots(_ turn: inout MatchContext) {
        var nodeCount = 0
        for index in 0..<turn.hits.count {
            var hit = turn.hits[index]
            hit.posting = keyTable.first(turn.probes[Int(hit.probe)].tableHash)
            let isNode = hit.posting & BucketNode.mark != 0
            turn.candidates.append(hit, if: !isNode && hit.posting != 0)
            turn.hits[nodeCount] = hit
            nodeCount += isNode ? 1 : 0
        }
        turn.hits.removeLast(turn.hits.count - nodeCount)
        turn.record.steps += turn.candidates.count
        // The processor does not go far beyond a page that it has to look for, but looks for several at a time if they
        // are asked for one right after the other.
        for index in 0..<nodeCount {
            let reference = turn.hits[index].posting
            blocks.prefetch(BucketNode.address(reference), lineCount: BucketNode.lineCount(reference))
        }
        for index in 0..<turn.candidates.count { postings.prefetch(turn.candidates[index].posting) }
    }

    /// Adds the candidates in the nodes, and asks for their postings.
    mutating func gather(_ turn: inout MatchContext) {
        let aloneCount = turn.candidates.count
        var hitIndex = 0
        // Further nodes are added behind all hits: each comes from memory while others are looked at.
        while hitIndex < turn.hits.count, turn.isComplete {
            gather(&turn, turn.hits[hitIndex])
            hitIndex += 1
        }
        for index in 0..<aloneCount {
            shapes.prefetch(postings.pointer(turn.candidates[index].posting).pointee.proofShape)
        }
        for index in aloneCount..<turn.candidates.count { postings.prefetch(turn.candidates[index].posting) }
    }

    private mutating func gather(_ turn: inout MatchContext, _ hit: Candidate) {
        let node = BucketNode(words: blocks.pointer(BucketNode.address(hit.posting)))
        if node.next != 0 {
            blocks.prefetch(node.next, lineCount: BucketNode.linesMaximum)
            turn.hits.append(Candidate(probe: hit.probe, posting: node.next | BucketNode.mark))
        }
        turn.record.steps += node.count
        turn.checkSteps()
        guard turn.isComplete else { return }
        let key = turn.probes[Int(hit.probe)]
        for index in 0..<node.count {
            let entry = node[index]
            // This leaves few, so that what comes after it need not be quick.
            guard entry.isShape || (key + further(turn, entry.proof)).check == entry.check else { continue }
            guard entry.operations & turn.operations != 0 else { continue }
            guard !entry.isShape || sum(&turn, of: entry.proof)?.check == entry.check else { continue }
            let proof = entry.isShape ? Candidate.unknownProof : entry.proof
            turn.candidates.append(Candidate(probe: hit.probe, posting: entry.posting, proof: proof))
        }
    }

    /// The record's part of a key for the members at the indices of a `BucketNode.Entry`.
    @inline(__always)
    private func further(_ turn: borrowing MatchContext, _ indices: UInt32) -> WordDigest {
        let digests = turn.memberDigests.pointer(0)
        return digests[Int(indices & 0x3F)] + digests[Int(indices >> 6 & 0x3F)] + digests[Int(indices >> 12 & 0x3F)]
            + digests[Int(indices >> 18)]
    }

    /// Keeps the candidates that have the key, and prefetches their residuals.
    mutating func readPostings(_ turn: inout MatchContext) {
        var count = 0
        for index in 0..<turn.candidates.count {
            var candidate = turn.candidates[index]
            let posting = postings.pointer(candidate.posting)
            let isKept = posting.pointee.operations & turn.operations != 0 && hasKey(&turn, posting, candidate)
            candidate.residual = posting.pointee.block
            if candidate.residual != 0, isKept { blocks.prefetch(candidate.residual) }
            turn.candidates[count] = candidate
            count += isKept ? 1 : 0
        }
        turn.candidates.removeLast(turn.candidates.count - count)
    }

    /// Whether the 96 bits of a posting are those of the key, or of the shape that it is proven by.
    @inline(__always)
    private mutating func hasKey(
        _ turn: inout MatchContext, _ posting: UnsafeMutablePointer<Posting>, _ candidate: Candidate
    ) -> Bool {
        var sum = turn.probes[Int(candidate.probe)]
        if candidate.proof != Candidate.unknownProof {
            sum = sum + further(turn, candidate.proof)
        } else if posting.pointee.proofShape != posting.pointee.keyShape {
            guard let full = self.sum(&turn, of: posting.pointee.proofShape) else { return false }
            sum = full
        }
        return (posting.pointee.low ^ sum.low) | UInt64(posting.pointee.middle ^ sum.middle) == 0
    }

    /// Finds the predicates of the candidates that hold, and ends the lookup.
    mutating func prove(_ turn: inout MatchContext) {
        for index in 0..<turn.candidates.count where turn.isComplete {
            let candidate = turn.candidates[index]
            if candidate.residual != 0 {
                turn.checkSteps()
                guard turn.isComplete, holds(&turn, candidate) else { continue }
            }
            find(&turn, candidate.posting)
        }
        turn.checkSteps()
        turn.endLookup()
    }

    /// Whether the residual of a candidate holds.
    private mutating func holds(_ turn: inout MatchContext, _ candidate: Candidate) -> Bool {
        let words = blocks.pointer(candidate.residual)
        let isFurther = postings.pointer(candidate.posting).pointee.isFurther
        let residual = isFurther ? UnsafePointer(words) : PredicateBlock(words: words).firstResidual
        guard let residual else { return true }
        tellPaths(turn)
        return turn.record.satisfies(residual, paths, change: turn.change)
    }

    private func find(_ turn: inout MatchContext, _ number: UInt32) {
        let posting = postings.pointer(number)
        let first = posting.pointee.isFurther ? posting.pointee.link : number
        let entry = postings.pointer(first)
        guard !entry.pointee.isFound else { return }
        entry.pointee.isFound = true
        turn.found.append(first)
    }
}
