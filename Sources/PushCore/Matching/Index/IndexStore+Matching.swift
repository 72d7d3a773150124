/// Finding the subscribers of a change.
extension IndexStore {
    /// How many keys are looked up together, so that their slots come from memory at the same time.
    private static let probesAtOnce = 512

    /// Appends the rows whose predicates the record satisfies; see `SubscriptionIndex.match`.
    mutating func match(_ input: MatchInput, stepsMaximum: Int, into rows: inout [Int64]) -> MatchOutcome {
        change += 1
        let isComplete = input.fields.values.withUnsafeBufferPointer { values in
            record.begin(values)
            defer { record.end() }
            locate(input.fields.paths)
            return search(input, stepsMaximum)
        }
        for place in 0..<found.count {
            let posting = postings.pointer(found[place])
            posting.pointee.isFound = false
            if isComplete { appendRows(of: posting, to: &rows) }
        }
        found.removeAll()
        return MatchOutcome(isComplete: isComplete, steps: record.steps)
    }

    private mutating func locate(_ names: [String]) {
        for field in 0..<names.count {
            let number: UInt32
            if let known = recentNames.number(ofPath: names[field], field: field) {
                number = known
            } else {
                number = pathNumber(hashes.of(names[field]))
                recentNames.remember(number, ofPath: names[field], field: field)
            }
            guard number != 0 else { continue }
            paths.pointer(number).pointee.seenIn = change
            paths.pointer(number).pointee.field = UInt32(field)
        }
    }

    // MARK: - Scopes and shapes

    /// Searches the scopes that the change belongs to; false if that takes too many steps.
    private mutating func search(_ input: MatchInput, _ stepsMaximum: Int) -> Bool {
        for scope in scopes(of: input) {
            guard search(scope, input.operations.rawValue, stepsMaximum) else { return false }
        }
        return true
    }

    private mutating func search(_ number: UInt32, _ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        let scope = scopes[number]
        findMembers(of: scope)
        let list = blocks.pointer(scope.shapes)
        record.steps += scope.shapeCount
        for place in 0..<scope.shapeCount {
            let entry = ShapeEntry(list, place)
            if entry.members == 0 {
                addProbes(entry.shape, scope.digest)
            } else if entry.members & ~membersFound == 0 {
                addProbe(sum(ofMembers: entry.places, scope.digest))
            }
            guard probes.count >= Self.probesAtOnce else { continue }
            guard probe(operations, stepsMaximum) else { return false }
        }
        return probe(operations, stepsMaximum)
    }

    /// Makes the digests of a scope's members, and the set of those that the record has.
    private mutating func findMembers(of scope: IndexScope) {
        membersFound = 0
        for place in 0..<scope.memberCount {
            let dimension = ScopeMember(blocks.pointer(scope.members), place).dimension
            guard dimension != 0, let digest = digest(of: dimension) else { continue }
            memberDigests[place] = digest
            membersFound |= 1 << UInt64(place)
        }
    }

    /// The sum of the record's digests for members, all of which it has.
    @inline(__always)
    private func sum(ofMembers places: UInt64, _ scope: WordDigest) -> WordDigest {
        let digests = memberDigests.pointer(0)
        var sum = scope
        // Most shapes have four members at most; what is nobody adds nothing, and costs less than to ask for it.
        for part in 0..<4 { sum = sum + digests[Int(places >> UInt64(8 * part) & 0xFF)] }
        if places >> 32 != ShapeEntry.noPlaces >> 32 {
            for part in 4..<8 { sum = sum + digests[Int(places >> UInt64(8 * part) & 0xFF)] }
        }
        return sum
    }

    /// Adds a key, and asks for what the filter says of it: by the time that is looked at, it is there.
    @inline(__always)
    private mutating func addProbe(_ key: WordDigest) {
        keyTable.prefetchFilter(key.tableHash)
        probes.append(key)
    }

    private mutating func addProbes(_ number: UInt32, _ scope: WordDigest) {
        let shape = shapes.pointer(number)
        guard shape.pointee.manifold >= 0 else {
            if let sum = madeSum(shape, scope) { addProbe(sum) }
            return
        }
        var base = scope
        var many = RecordView.Extent()
        for place in 0..<shape.pointee.dimensionCount {
            let extent = digests(of: shape.pointee.dimensions[place])
            guard extent.count > 0 else { return }
            if place == shape.pointee.manifold { many = extent } else { base = base + record.digests[extent.start] }
        }
        record.steps += many.count
        for place in many.start..<many.start + many.count { addProbe(base + record.digests[place]) }
    }

    /// The sum of the record's digests in the dimensions of a shape; nil if a field is missing.
    @inline(__always)
    private mutating func madeSum(_ shape: UnsafeMutablePointer<KeyShape>, _ scope: WordDigest) -> WordDigest? {
        var sum = scope
        for place in 0..<shape.pointee.dimensionCount {
            guard let digest = digest(of: shape.pointee.dimensions[place]) else { return nil }
            sum = sum + digest
        }
        return sum
    }

    /// The same; if it takes long to make, it is kept for the next posting that is proven by the shape.
    private mutating func sum(of number: UInt32) -> WordDigest? {
        let shape = shapes.pointer(number)
        if shape.pointee.members != 0 {
            guard shape.pointee.members & ~membersFound == 0 else { return nil }
            return sum(ofMembers: shape.pointee.places, scopes.pointer(shape.pointee.scope).pointee.digest)
        }
        if shape.pointee.madeFor != change {
            shape.pointee.madeFor = change
            let sum = madeSum(shape, scopes.pointer(shape.pointee.scope).pointee.digest)
            shape.pointee.hasSum = sum != nil
            if let sum { shape.pointee.sum = sum }
        }
        return shape.pointee.hasSum ? shape.pointee.sum : nil
    }

    // MARK: - Probes

    /// Looks the probes up; false if that takes too many steps.
    ///
    /// In passes over all probes, because memory serves many reads at once, but one after the other if each waits for
    /// what the one before has said: each pass asks for what the next one looks at.
    private mutating func probe(_ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        defer {
            probes.removeAll()
            hits.removeAll()
            candidates.removeAll()
        }
        for place in 0..<probes.count {
            hits.append(Candidate(probe: UInt32(place)), if: keyTable.mayHave(probes[place].tableHash))
        }
        record.steps += hits.count
        for place in 0..<hits.count { keyTable.prefetch(probes[Int(hits[place].probe)].tableHash) }
        for place in 0..<hits.count {
            let first = keyTable.first(probes[Int(hits[place].probe)].tableHash)
            hits[place].posting = first
            if first & BucketNode.mark != 0 {
                blocks.prefetch(BucketNode.address(first), lineCount: BucketNode.lineCount(first))
            } else if first != 0 {
                postings.prefetch(first)
            }
        }
        var place = 0
        // Further nodes are added behind all hits: each comes from memory while others are looked at.
        while place < hits.count {
            guard hits[place].posting == 0 || gather(hits[place], operations, stepsMaximum) else { return false }
            place += 1
        }
        return prove(operations, stepsMaximum)
    }

    /// Adds the candidates that a probe or a node has led to; false if that takes too many steps.
    private mutating func gather(_ hit: Candidate, _ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        guard hit.posting & BucketNode.mark != 0 else {
            record.steps += 1
            candidates.append(hit)
            return true
        }
        let node = BucketNode(words: blocks.pointer(BucketNode.address(hit.posting)))
        if node.next != 0 {
            blocks.prefetch(node.next, lineCount: BucketNode.longLines)
            hits.append(Candidate(probe: hit.probe, posting: node.next | BucketNode.mark))
        }
        record.steps += node.count
        guard record.steps <= stepsMaximum else { return false }
        let key = UInt32(truncatingIfNeeded: probes[Int(hit.probe)].low)
        for place in 0..<node.count {
            let entry = node[place]
            guard entry.operations & operations != 0, isLikely(entry, key) else { continue }
            postings.prefetch(entry.posting)
            candidates.append(Candidate(probe: hit.probe, posting: entry.posting))
        }
        return true
    }

    /// Whether the bits of an entry are those of the sum that its posting asks for, where those of the key are known.
    @inline(__always)
    private mutating func isLikely(_ entry: BucketNode.Entry, _ key: UInt32) -> Bool {
        guard !entry.isShape else { return isLikely(shape: entry.proof, entry.check) }
        let digests = memberDigests.pointer(0)
        var sum = UInt64(key)
        for part in 0..<BucketNode.Entry.membersMaximum {
            sum &+= digests[Int(entry.proof >> UInt32(6 * part) & 0x3F)].low
        }
        return UInt32(truncatingIfNeeded: sum) == entry.check
    }

    private mutating func isLikely(shape: UInt32, _ check: UInt32) -> Bool {
        guard let sum = sum(of: shape) else { return false }
        return UInt32(truncatingIfNeeded: sum.low) == check
    }

    /// Finds the predicates of the candidates that hold; false if that takes too many steps.
    private mutating func prove(_ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        for place in 0..<candidates.count {
            let posting = postings.pointer(candidates[place].posting)
            guard posting.pointee.operations & operations != 0, hasKey(posting, candidates[place].probe) else {
                candidates[place].posting = 0
                continue
            }
            candidates[place].residual = posting.pointee.block
            if posting.pointee.block == 0 {
                find(candidates[place].posting)
            } else {
                blocks.prefetch(posting.pointee.block)
            }
        }
        for place in 0..<candidates.count where candidates[place].posting != 0 && candidates[place].residual != 0 {
            guard record.steps <= stepsMaximum else { return false }
            let words = blocks.pointer(candidates[place].residual)
            let isFurther = postings.pointer(candidates[place].posting).pointee.isFurther
            let residual = isFurther ? UnsafePointer(words) : PredicateBlock(words: words).firstResidual
            guard residual.map({ record.satisfies($0, paths, change: change) }) ?? true else { continue }
            find(candidates[place].posting)
        }
        return record.steps <= stepsMaximum
    }

    /// Whether the 96 bits of a posting are those of the key, or of the shape that it is proven by.
    private mutating func hasKey(_ posting: UnsafeMutablePointer<Posting>, _ probe: UInt32) -> Bool {
        var sum = probes[Int(probe)]
        if posting.pointee.proofShape != posting.pointee.keyShape {
            guard let full = self.sum(of: posting.pointee.proofShape) else { return false }
            sum = full
        }
        return posting.pointee.low == sum.low && posting.pointee.middle == sum.middle
    }

    private mutating func find(_ number: UInt32) {
        let posting = postings.pointer(number)
        let first = posting.pointee.isFurther ? posting.pointee.link : number
        let entry = postings.pointer(first)
        guard !entry.pointee.isFound else { return }
        entry.pointee.isFound = true
        found.append(first)
    }
}
