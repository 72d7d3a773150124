import Hashing

/// The keys that a change is looked up for.
extension IndexStore {
    /// How many keys are looked up together at most, so that the memory for them stays bounded.
    private static let probesAtOnce = 512

    /// Adds the keys of a change in a scope.
    ///
    /// - Parameters:
    ///   - turn: the change.
    ///   - number: the scope.
    ///   - isAlone: whether very many keys may be looked up in parts; if not, the change becomes a large one instead.
    mutating func addProbes(_ turn: inout MatchContext, scope number: UInt32, isAlone: Bool) {
        let scope = scopes[number]
        findMembers(&turn, of: scope)
        let list = blocks.pointer(scope.shapes)
        turn.record.steps += scope.shapeCount
        for index in 0..<scope.shapeCount {
            let entry = ShapeEntry(list, index)
            if entry.members == 0 {
                addProbes(&turn, entry.shape, scope.digest)
            } else if entry.members & ~turn.membersFound == 0 {
                addProbe(&turn, sum(turn, ofMembers: entry.memberIndices, scope.digest))
            }
            guard turn.probes.count >= Self.probesAtOnce else { continue }
            guard isAlone else { return turn.becomeLarge() }
            lookUp(&turn)
            guard turn.isComplete else { return }
        }
    }

    /// Makes the digests of a scope's members, and the set of those that the record has.
    private mutating func findMembers(_ turn: inout MatchContext, of scope: IndexScope) {
        turn.membersFound = 0
        for index in 0..<scope.memberCount {
            let dimension = ScopeMember(blocks.pointer(scope.members), index).dimension
            // A member that the record does not have adds nothing, so that no sum that needs it comes out right.
            let digest = dimension == 0 ? nil : digest(&turn, of: dimension)
            turn.memberDigests[index] = digest ?? .zero
            turn.membersFound |= digest == nil ? 0 : 1 << UInt64(index)
        }
    }

    /// Adds a key, and prefetches its word of the filter.
    @inline(__always)
    private func addProbe(_ turn: inout MatchContext, _ key: WordDigest) {
        keyTable.prefetchFilter(key.tableHash)
        turn.probes.append(key)
    }

    private mutating func addProbes(_ turn: inout MatchContext, _ number: UInt32, _ scope: WordDigest) {
        let shape = shapes.pointer(number)
        guard shape.pointee.manifold >= 0 else {
            if let sum = madeSum(&turn, shape, scope) { addProbe(&turn, sum) }
            return
        }
        var base = scope
        var many = RecordView.Extent()
        for index in 0..<shape.pointee.dimensionCount {
            let extent = digests(&turn, of: shape.pointee.dimensions[index])
            guard extent.count > 0 else { return }
            if index == shape.pointee.manifold {
                many = extent
            } else {
                base = base + turn.record.digests[extent.start]
            }
        }
        turn.record.steps += many.count
        for index in many.start..<many.start + many.count { addProbe(&turn, base + turn.record.digests[index]) }
    }

    // MARK: - Sums

    /// The sum of the record's digests for members, all of which it has.
    @inline(__always)
    private func sum(_ turn: borrowing MatchContext, ofMembers indices: UInt64, _ scope: WordDigest) -> WordDigest {
        let digests = turn.memberDigests.pointer(0)
        var sum = scope
        // Most shapes have at most four members; an unused place adds nothing, and costs less than a check.
        for part in 0..<4 { sum = sum + digests[Int(indices >> UInt64(8 * part) & 0xFF)] }
        if indices >> 32 != ShapeEntry.noMemberIndices >> 32 {
            for part in 4..<8 { sum = sum + digests[Int(indices >> UInt64(8 * part) & 0xFF)] }
        }
        return sum
    }

    /// The sum of the record's digests in the dimensions of a shape; nil if a field is missing.
    @inline(__always)
    private mutating func madeSum(
        _ turn: inout MatchContext, _ shape: UnsafeMutablePointer<KeyShape>, _ scope: WordDigest
    ) -> WordDigest? {
        var sum = scope
        for index in 0..<shape.pointee.dimensionCount {
            guard let digest = digest(&turn, of: shape.pointee.dimensions[index]) else { return nil }
            sum = sum + digest
        }
        return sum
    }

    /// The same; if it takes long to make, it is kept for the next posting that is proven by the shape.
    mutating func sum(_ turn: inout MatchContext, of number: UInt32) -> WordDigest? {
        let shape = shapes.pointer(number)
        if shape.pointee.members != 0 {
            guard shape.pointee.members & ~turn.membersFound == 0 else { return nil }
            return sum(turn, ofMembers: shape.pointee.memberIndices, scopes.pointer(shape.pointee.scope).pointee.digest)
        }
        if shape.pointee.madeFor != turn.change {
            shape.pointee.madeFor = turn.change
            let sum = madeSum(&turn, shape, scopes.pointer(shape.pointee.scope).pointee.digest)
            shape.pointee.hasSum = sum != nil
            if let sum { shape.pointee.sum = sum }
        }
        return shape.pointee.hasSum ? shape.pointee.sum : nil
    }
}

/// The record's parts of the keys for which it is probed.
extension IndexStore {
    /// The digests of the record in a dimension, in `record.digests`; none if the field has none of that kind.
    mutating func digests(_ turn: inout MatchContext, of number: UInt32) -> RecordView.Extent {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != turn.change {
            dimension.pointee.madeFor = turn.change
            tellPaths(turn)
            let start = turn.record.make(dimension.pointee, paths, change: turn.change)
            dimension.pointee.digestStart = UInt32(start)
            dimension.pointee.digestCount = UInt32(turn.record.digests.count - start)
            if turn.record.digests.count > start { dimension.pointee.digest = turn.record.digests[start] }
        }
        return RecordView.Extent(start: Int(dimension.pointee.digestStart), count: Int(dimension.pointee.digestCount))
    }

    /// The digest of the record in a dimension of one digest; nil if the field has none of that kind.
    @inline(__always)
    mutating func digest(_ turn: inout MatchContext, of number: UInt32) -> WordDigest? {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != turn.change { _ = digests(&turn, of: number) }
        return dimension.pointee.digestCount == 0 ? nil : dimension.pointee.digest
    }

    /// Lets the paths tell where in the record the fields are; they know it of one change at a time.
    mutating func tellPaths(_ turn: borrowing MatchContext) {
        guard changeInPaths != turn.change else { return }
        changeInPaths = turn.change
        for field in 0..<turn.pathNumbers.count {
            let number = turn.pathNumbers[field]
            guard number != 0 else { continue }
            paths.pointer(number).pointee.seenIn = turn.change
            paths.pointer(number).pointee.field = UInt32(field)
        }
    }
}
