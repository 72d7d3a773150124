/// Which of its terms a conjunction is found by.
extension IndexStore {
    /// How many postings of a bucket are counted; more are as bad.
    private static let bucketMaximum = 64

    /// The options that make the cheapest keys: few other postings under them, and few keys.
    ///
    /// All equalities are taken, and one of the others beside them where many predicates share those equalities. If the
    /// scope has as many shapes as it may have, a part of the terms has to do.
    func chosenOptions(_ options: [KeyOption], scope: UInt32) -> [KeyOption] {
        var choice = KeyChoice(options, dimensions: options.map { dimension($0.salt) })
        var equalities: UInt32 = 0
        var others: UInt32 = 0
        for (place, option) in options.enumerated().prefix(UInt32.bitWidth) {
            let isRepeated = options[..<place].contains { $0.salt == option.salt }
            guard !isRepeated else { continue }
            let isEquality = option.kind.isSingle && option.digests.count == 1
            if isEquality, equalities.nonzeroBitCount < KeyShape.dimensionsMaximum {
                equalities |= 1 << UInt32(place)
            } else {
                others |= 1 << UInt32(place)
            }
        }
        if equalities != 0 { consider(equalities, scope, &choice) }
        guard equalities.nonzeroBitCount < KeyShape.dimensionsMaximum else { return choice.bestOptions }
        while others != 0 {
            consider(equalities | 1 << UInt32(others.trailingZeroBitCount), scope, &choice)
            others &= others - 1
        }
        return choice.bestOptions
    }

    /// Offers a set of options, or, if there can be no shape of them, its parts.
    private func consider(_ set: UInt32, _ scope: UInt32, _ choice: inout KeyChoice) {
        if isAvailable(set, scope, choice) {
            offer(set, scope, &choice)
            return
        }
        var rest = set
        while rest != 0 {
            offer(rest & ~(rest - 1), scope, &choice)
            rest &= rest - 1
        }
        let list = blocks.pointer(scopes[scope].shapes)
        for place in 0..<scopes[scope].shapeCount {
            let shape = shapes.pointer(ShapeEntry(list, place).shape)
            guard shape.pointee.dimensionCount > 1, let part = part(of: set, in: shape, choice) else { continue }
            offer(part, scope, &choice)
        }
    }

    /// The options of a set that are the dimensions of a shape; nil if the set has not all of those.
    private func part(of set: UInt32, in shape: UnsafeMutablePointer<KeyShape>, _ choice: KeyChoice) -> UInt32? {
        var part: UInt32 = 0
        for member in 0..<shape.pointee.dimensionCount {
            var rest = set
            while rest != 0, choice.dimensions[rest.trailingZeroBitCount] != shape.pointee.dimensions[member] {
                rest &= rest - 1
            }
            guard rest != 0 else { return nil }
            part |= rest & ~(rest - 1)
        }
        return part
    }

    private func offer(_ set: UInt32, _ scope: UInt32, _ choice: inout KeyChoice) {
        let keyCount = choice.keyCount(set)
        guard keyCount <= KeyOption.digestsMaximum else { return }
        var postingCount = 0
        choice.forEachKey(set, scopes.pointer(scope).pointee.digest) { key in
            postingCount += bucketLength(key, countMaximum: Self.bucketMaximum)
        }
        choice.offer(set, postingCount: postingCount, keyCount: keyCount)
    }

    /// Whether changes are probed for the shape of a set anyway, or may be from now on.
    private func isAvailable(_ set: UInt32, _ scope: UInt32, _ choice: KeyChoice) -> Bool {
        guard set.nonzeroBitCount > 1, scopes[scope].compositeCount >= IndexScope.compositeShapesMaximum else {
            return true
        }
        let members = choice.options.indices.filter { set >> UInt32($0) & 1 == 1 }.map { choice.options[$0] }
        return isAvailable(members, scope)
    }

    /// Whether changes are probed for the shape anyway, or may be from now on.
    func isAvailable(_ options: [KeyOption], _ scope: UInt32) -> Bool {
        guard options.count > 1, scopes[scope].compositeCount >= IndexScope.compositeShapesMaximum else { return true }
        let number = shape(scope: scope, options)
        return number != 0 && shapes.pointer(number).pointee.keyCount > 0
    }

    /// The keys that options make: all sums of one digest of each.
    static func keys(_ options: [KeyOption], _ scope: WordDigest) -> [WordDigest] {
        options.reduce([scope]) { keys, option in keys.flatMap { key in option.digests.map { key + $0 } } }
    }
}
