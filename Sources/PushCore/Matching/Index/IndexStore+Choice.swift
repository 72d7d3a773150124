/// Which of its terms a conjunction is found by.
extension IndexStore {
    /// How many postings of a bucket are counted; more are as bad.
    private static let bucketMaximum = 64
    /// What a further key costs: as much as this many postings in the way.
    private static let furtherKeyCost = 2.0

    /// The options that make the cheapest keys: few other postings under them, and few keys.
    ///
    /// All equalities are taken, and one of the others beside them where many predicates share those equalities. If the
    /// scope has as many shapes as it may have, a part of the terms has to do.
    func chosenOptions(_ options: [KeyOption], scope: UInt32) -> [KeyOption] {
        var equalities: [KeyOption] = []
        var others: [KeyOption] = []
        for option in options {
            let isEquality = option.kind.isSingle && option.digests.count == 1
            let isRepeated = equalities.contains { $0.salt == option.salt }
            if isEquality, !isRepeated, equalities.count < KeyShape.dimensionsMaximum {
                equalities.append(option)
            } else if !isRepeated {
                others.append(option)
            }
        }
        var choice = Choice()
        if !equalities.isEmpty { consider(equalities, scope, &choice) }
        if equalities.count < KeyShape.dimensionsMaximum {
            for other in others { consider(equalities + [other], scope, &choice) }
        }
        return choice.options
    }

    private struct Choice {
        var options: [KeyOption] = []
        var cost = Double.infinity

        mutating func offer(_ other: [KeyOption], cost otherCost: Double) {
            // Of two that are as cheap now, more terms are likely to stay so.
            guard otherCost < cost || otherCost == cost && other.count > options.count else { return }
            options = other
            cost = otherCost
        }
    }

    private func consider(_ options: [KeyOption], _ scope: UInt32, _ choice: inout Choice) {
        if isAvailable(options, scope) {
            choice.offer(options, cost: cost(options, scope))
            return
        }
        for option in options { choice.offer([option], cost: cost([option], scope)) }
        let numbers = options.map { dimension($0.salt) }
        let list = blocks.pointer(scopes[scope].shapes)
        for place in 0..<scopes[scope].shapeCount {
            let shape = shapes.pointer(list[place])
            guard shape.pointee.dimensionCount > 1 else { continue }
            var part: [KeyOption] = []
            for member in 0..<shape.pointee.dimensionCount {
                guard let place = numbers.firstIndex(of: shape.pointee.dimensions[member]) else { break }
                part.append(options[place])
            }
            if part.count == shape.pointee.dimensionCount { choice.offer(part, cost: cost(part, scope)) }
        }
    }

    /// Whether changes are probed for the shape anyway, or may be from now on.
    func isAvailable(_ options: [KeyOption], _ scope: UInt32) -> Bool {
        guard options.count > 1, scopes[scope].compositeCount >= IndexScope.compositeShapesMaximum else { return true }
        let number = shape(scope: scope, options)
        return number != 0 && shapes.pointer(number).pointee.keyCount > 0
    }

    private func cost(_ options: [KeyOption], _ scope: UInt32) -> Double {
        let keyCount = options.reduce(1) { $0 * $1.digests.count }
        guard keyCount <= KeyOption.digestsMaximum else { return .infinity }
        let keys = Self.keys(options, scopes[scope].digest)
        let length = keys.reduce(0) { $0 + bucketLength($1, countMaximum: Self.bucketMaximum) }
        return Double(length) / Double(keys.count) + Self.furtherKeyCost * Double(keys.count - 1)
    }

    /// The keys that options make: all sums of one digest of each.
    static func keys(_ options: [KeyOption], _ scope: WordDigest) -> [WordDigest] {
        var keys = [scope]
        for option in options {
            keys =
                option.digests.count == 1
                ? keys.map { $0 + option.digests[0] } : keys.flatMap { key in option.digests.map { key + $0 } }
        }
        return keys
    }
}
