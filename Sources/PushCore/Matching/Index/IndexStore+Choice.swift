/// Which of its terms a conjunction is found by.
extension IndexStore {
    /// How many postings of a bucket are counted; more are as bad.
    private static let bucketMaximum = 64

    /// The options that make the cheapest keys: few other postings under them, and few keys.
    ///
    /// All equalities are taken, and one of the others beside them where many predicates share those equalities. If the
    /// scope has as many shapes as it may have, a part of the terms has to do.
    func chosenOptions(_ options: KeyOptions, scope: UInt32) -> KeyOptionSet {
        var choice = KeyChoice(options)
        var equalities = KeyOptionSet()
        var others = KeyOptionSet()
        for place in options.all {
            let salt = options[place].salt
            let isRepeated = (0..<place).contains { options[$0].salt == salt }
            guard !isRepeated else { continue }
            if options[place].isEquality, equalities.count < KeyShape.dimensionsMaximum {
                equalities = equalities + KeyOptionSet(place)
            } else {
                others = others + KeyOptionSet(place)
            }
        }
        if !equalities.isEmpty { consider(equalities, scope, &choice) }
        guard equalities.count < KeyShape.dimensionsMaximum else { return choice.best }
        for other in others { consider(equalities + KeyOptionSet(other), scope, &choice) }
        return choice.best
    }

    /// Offers a set of options, or, if there can be no shape of them, its parts.
    private func consider(_ set: KeyOptionSet, _ scope: UInt32, _ choice: inout KeyChoice) {
        if isAvailable(choice.options, set, scope) {
            offer(set, scope, &choice)
            return
        }
        for place in set { offer(KeyOptionSet(place), scope, &choice) }
        let members = set.map { (place: $0, dimension: dimension(choice.options[$0].salt)) }
        let list = blocks.pointer(scopes[scope].shapes)
        for place in 0..<scopes[scope].shapeCount {
            let shape = shapes.pointer(ShapeEntry(list, place).shape)
            guard shape.pointee.dimensionCount > 1, let part = part(of: members, in: shape) else { continue }
            offer(part, scope, &choice)
        }
    }

    /// The options that are the dimensions of a shape; nil if there is none for one of those.
    private func part(
        of members: [(place: Int, dimension: UInt32)], in shape: UnsafeMutablePointer<KeyShape>
    ) -> KeyOptionSet? {
        var part = KeyOptionSet()
        for place in 0..<shape.pointee.dimensionCount {
            let dimension = shape.pointee.dimensions[place]
            guard let member = members.first(where: { $0.dimension == dimension }) else { return nil }
            part = part + KeyOptionSet(member.place)
        }
        return part
    }

    private func offer(_ set: KeyOptionSet, _ scope: UInt32, _ choice: inout KeyChoice) {
        let keyCount = choice.options.keyCount(set)
        guard keyCount <= KeyOption.digestsMaximum, choice.couldTake(set, keyCount: keyCount) else { return }
        var postingCount = 0
        choice.options.forEachKey(set, scopes.pointer(scope).pointee.digest) { key in
            postingCount += bucketLength(key, countMaximum: Self.bucketMaximum)
        }
        choice.offer(set, postingCount: postingCount, keyCount: keyCount)
    }

    /// Whether changes are probed for the shape of a set anyway, or may be from now on.
    func isAvailable(_ options: KeyOptions, _ set: KeyOptionSet, _ scope: UInt32) -> Bool {
        guard set.count > 1, scopes.pointer(scope).pointee.compositeCount >= IndexScope.compositeShapesMaximum else {
            return true
        }
        let number = shape(scope: scope, options, set)
        return number != 0 && shapes.pointer(number).pointee.keyCount > 0
    }
}
