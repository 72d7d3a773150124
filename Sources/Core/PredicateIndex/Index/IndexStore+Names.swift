import Hashing
import Predicates

/// Paths, dimensions and shapes: few, shared by many predicates, gone with the last that uses them.
extension IndexStore {
    // MARK: - Paths

    /// The number of a path, which gains a user; 0 for the empty path, which stands for all fields.
    mutating func usePath(_ path: String, _ digest: WordDigest) -> UInt32 {
        guard !path.isEmpty else { return 0 }
        var number = pathNumber(digest)
        if number == 0 {
            number = paths.add(PathEntry(digest: digest))
            pathTable.add(digest.tableHash, number)
            recentNames.forgetPaths()
        }
        paths.pointer(number).pointee.users += 1
        return number
    }

    /// The number of a path; 0 if no predicate uses it.
    func pathNumber(_ digest: WordDigest) -> UInt32 {
        pathTable.first(digest.tableHash) { paths[$0].digest == digest }
    }

    mutating func releasePath(_ number: UInt32) {
        guard number != 0 else { return }
        let entry = paths.pointer(number)
        entry.pointee.users -= 1
        guard entry.pointee.users == 0 else { return }
        pathTable.remove(entry.pointee.digest.tableHash, number)
        recentNames.forgetPaths()
        paths.remove(number)
    }

    // MARK: - Dimensions

    /// The number of a dimension, which gains a user.
    mutating func useDimension(_ option: KeyOption, path: String) -> UInt32 {
        var number = dimension(option.salt)
        if number == 0 {
            let path = usePath(path, option.path)
            number = dimensions.add(KeyDimension(path: path, kind: option.kind, salt: option.salt))
            dimensionTable.add(option.salt.tableHash, number)
            if option.kind.hasLevels { dimensions.pointer(number).pointee.levelCounts = levelCounts.add(LevelCounts()) }
        }
        dimensions.pointer(number).pointee.users += 1
        return number
    }

    /// The number of a dimension; 0 if there is none.
    func dimension(_ salt: WordDigest) -> UInt32 {
        dimensionTable.first(salt.tableHash) { dimensions.pointer($0).pointee.salt == salt }
    }

    mutating func releaseDimension(_ number: UInt32) {
        let dimension = dimensions.pointer(number)
        dimension.pointee.users -= 1
        guard dimension.pointee.users == 0 else { return }
        dimensionTable.remove(dimension.pointee.salt.tableHash, number)
        releasePath(dimension.pointee.path)
        if dimension.pointee.kind.hasLevels { levelCounts.remove(dimension.pointee.levelCounts) }
        dimensions.remove(number)
    }

    // MARK: - Shapes

    /// Where a shape is looked up: the same for the same dimensions in any order.
    private func shapeHash(scope: UInt32, _ options: KeyOptions, _ set: KeyOptionSet) -> UInt32 {
        set.reduce(scopes.pointer(scope).pointee.digest) { $0 + options[$1].salt }.tableHash
    }

    /// The number of a shape; 0 if there is none.
    func shape(scope: UInt32, _ options: KeyOptions, _ set: KeyOptionSet) -> UInt32 {
        shapeTable.first(shapeHash(scope: scope, options, set)) { number in
            let shape = shapes.pointer(number)
            guard shape.pointee.scope == scope, shape.pointee.dimensionCount == set.count else { return false }
            return set.allSatisfy { index in
                let salt = options[index].salt
                return (0..<shape.pointee.dimensionCount).contains {
                    dimensions.pointer(shape.pointee.dimensions[$0]).pointee.salt == salt
                }
            }
        }
    }

    /// The number of the shape of a set of options, which gains a user.
    mutating func useShape(
        scope: UInt32, _ options: KeyOptions, _ set: KeyOptionSet, _ terms: [PredicateTerm]
    ) -> UInt32 {
        var number = shape(scope: scope, options, set)
        if number == 0 {
            var members = InlineArray<8, UInt32>(repeating: 0)
            var count = 0
            var manifold = -1
            for index in set {
                members[count] = useDimension(options[index], path: terms[options[index].term].path)
                if !options[index].kind.isSingle { manifold = count }
                count += 1
            }
            let hash = shapeHash(scope: scope, options, set)
            var shape = KeyShape(scope: scope, dimensions: members, count: count, tableHash: hash)
            shape.manifold = manifold
            number = shapes.add(shape)
            precondition(number < 1 << 24, "numbers of 24 bits are used up")
            // Only the shape knows about a field with many digests.
            if manifold < 0 { useMembers(number) }
            shapeTable.add(hash, number)
        }
        shapes.pointer(number).pointee.users += 1
        return number
    }

    mutating func releaseShape(_ number: UInt32) {
        let shape = shapes.pointer(number)
        shape.pointee.users -= 1
        guard shape.pointee.users == 0 else { return }
        shapeTable.remove(shape.pointee.tableHash, number)
        releaseMembers(shape.pointee.members, scopes.pointer(shape.pointee.scope))
        for index in 0..<shape.pointee.dimensionCount { releaseDimension(shape.pointee.dimensions[index]) }
        shapes.remove(number)
    }
}
