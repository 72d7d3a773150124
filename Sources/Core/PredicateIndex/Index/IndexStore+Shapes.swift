/// The shapes in use for keys, for which changes are probed.
extension IndexStore {
    /// Counts a key of a shape: its scope's changes are probed for it.
    mutating func addKey(shape number: UInt32, level: Int) {
        let shape = shapes.pointer(number)
        shape.pointee.keyCount += 1
        if let dimension = levelled(shape),
            levelCounts.pointer(dimension.pointee.levelCounts).pointee.add(level)
        {
            dimension.pointee.levels |= 1 << UInt64(level)
        }
        if shape.pointee.keyCount == 1 { list(number) }
    }

    /// Counts a key no more.
    mutating func removeKey(shape number: UInt32, level: Int) {
        let shape = shapes.pointer(number)
        shape.pointee.keyCount -= 1
        if let dimension = levelled(shape),
            levelCounts.pointer(dimension.pointee.levelCounts).pointee.remove(level)
        {
            dimension.pointee.levels &= ~(1 << UInt64(level))
        }
        if shape.pointee.keyCount == 0 { unlist(number) }
    }

    /// The dimension of a shape that has levels.
    private func levelled(_ shape: UnsafeMutablePointer<KeyShape>) -> UnsafeMutablePointer<KeyDimension>? {
        guard shape.pointee.manifold >= 0 else { return nil }
        let dimension = dimensions.pointer(shape.pointee.dimensions[shape.pointee.manifold])
        return dimension.pointee.kind.hasLevels ? dimension : nil
    }

    // MARK: - The list of a scope

    private mutating func list(_ number: UInt32) {
        let shape = shapes.pointer(number)
        let scope = scopes.pointer(shape.pointee.scope)
        if shape.pointee.dimensionCount > 1 { scope.pointee.compositeCount += 1 }
        if scope.pointee.shapeCount == scope.pointee.shapeCapacity {
            let capacity = max(4, 2 * scope.pointee.shapeCapacity)
            scope.pointee.shapes = enlarge(
                scope.pointee.shapes, from: scope.pointee.shapeCapacity * ShapeEntry.wordCount,
                to: capacity * ShapeEntry.wordCount)
            scope.pointee.shapeCapacity = capacity
        }
        shape.pointee.entryIndex = UInt32(scope.pointee.shapeCount)
        let entry = ShapeEntry(blocks.pointer(scope.pointee.shapes), scope.pointee.shapeCount)
        entry.shape = number
        entry.members = shape.pointee.members
        entry.memberIndices = shape.pointee.memberIndices
        scope.pointee.shapeCount += 1
    }

    private mutating func unlist(_ number: UInt32) {
        let shape = shapes.pointer(number)
        let scope = scopes.pointer(shape.pointee.scope)
        if shape.pointee.dimensionCount > 1 { scope.pointee.compositeCount -= 1 }
        scope.pointee.shapeCount -= 1
        let list = blocks.pointer(scope.pointee.shapes)
        let entry = ShapeEntry(list, Int(shape.pointee.entryIndex))
        let last = ShapeEntry(list, scope.pointee.shapeCount)
        shapes.pointer(last.shape).pointee.entryIndex = shape.pointee.entryIndex
        if entry.shape != last.shape { entry.words.update(from: last.words, count: ShapeEntry.wordCount) }
    }

    /// A greater block with the words of another, which is given back.
    private mutating func enlarge(_ block: UInt32, from wordCount: Int, to newCount: Int) -> UInt32 {
        let larger = blocks.allocate(wordCount: newCount)
        if wordCount > 0 {
            blocks.pointer(larger).update(from: blocks.pointer(block), count: wordCount)
            blocks.release(block, wordCount: wordCount)
        }
        return larger
    }

    // MARK: - The members of a scope

    /// Makes the dimensions of a shape members, unless the scope has as many as it can.
    mutating func useMembers(_ number: UInt32) {
        let shape = shapes.pointer(number)
        let scope = scopes.pointer(shape.pointee.scope)
        var members: UInt64 = 0
        var indices = ShapeEntry.noMemberIndices
        for dimension in 0..<shape.pointee.dimensionCount {
            guard let index = member(shape.pointee.dimensions[dimension], scope) else {
                return releaseMembers(members, scope)
            }
            ScopeMember(blocks.pointer(scope.pointee.members), index).users += 1
            members |= 1 << UInt64(index)
            indices = indices & ~(0xFF << UInt64(8 * dimension)) | UInt64(index) << UInt64(8 * dimension)
        }
        shape.pointee.members = members
        shape.pointee.memberIndices = indices
    }

    /// Returns the index of a dimension among the members, and adds the dimension if needed; nil if there are too many.
    private mutating func member(_ dimension: UInt32, _ scope: UnsafeMutablePointer<IndexScope>) -> Int? {
        var free: Int?
        for index in 0..<scope.pointee.memberCount {
            let member = ScopeMember(blocks.pointer(scope.pointee.members), index)
            if member.dimension == dimension { return index }
            if member.dimension == 0, free == nil { free = index }
        }
        let index = free ?? scope.pointee.memberCount
        guard index < ScopeMember.countMaximum else { return nil }
        if index == scope.pointee.memberCapacity {
            let capacity = max(8, 2 * scope.pointee.memberCapacity)
            scope.pointee.members = enlarge(
                scope.pointee.members, from: scope.pointee.memberCapacity * ScopeMember.wordCount,
                to: capacity * ScopeMember.wordCount)
            scope.pointee.memberCapacity = capacity
        }
        scope.pointee.memberCount = max(scope.pointee.memberCount, index + 1)
        let member = ScopeMember(blocks.pointer(scope.pointee.members), index)
        member.dimension = dimension
        member.users = 0
        return index
    }

    /// Makes dimensions members no more, if no other shape has them.
    func releaseMembers(_ members: UInt64, _ scope: UnsafeMutablePointer<IndexScope>) {
        var rest = members
        while rest != 0 {
            let member = ScopeMember(blocks.pointer(scope.pointee.members), rest.trailingZeroBitCount)
            member.users -= 1
            if member.users == 0 { member.dimension = 0 }
            rest &= rest - 1
        }
    }
}
