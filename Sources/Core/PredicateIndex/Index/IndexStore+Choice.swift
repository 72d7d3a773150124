/// Which of its terms a conjunction is found by.
extension IndexStore {
    /// How many postings of a bucket are counted; more are as bad.
    private static let bucketMaximum = 64

    /// The options that make the cheapest keys: few other postings under them, and few keys.
    ///
    /// All equalities are taken, and one of the others beside them where many predicates share those equalities. If the
    /// scope has as many shapes as it may have, a pair of the terms has to do, or one of them.
    func chosenOptions(_ options: KeyOptions, scope: UInt32) -> KeyOptionSet {
        var choice = KeyChoice(options)
        var equalities = KeyOptionSet()
        var others = KeyOptionSet()
        for index in options.all {
            let salt = options[index].salt
            let isRepeated = (0..<index).contains { options[$0].salt == salt }
            guard !isRepeated else { continue }
            if options[index].isEquality, equalities.count < KeyShape.dimensionsMaximum {
                equalities = equalities + KeyOptionSet(index)
            } else {
                others = others + KeyOptionSet(index)
            }
        }
        if !equalities.isEmpty { consider(equalities, scope, &choice) }
        guard equalities.count < KeyShape.dimensionsMaximum else { return choice.best }
        for other in others { consider(equalities + KeyOptionSet(other), scope, &choice) }
        return choice.best
    }

    /// Offers a set of options, or, if there can be no shape of them, its pairs and its single options.
    private func consider(_ set: KeyOptionSet, _ scope: UInt32, _ choice: inout KeyChoice) {
        if isAvailable(choice.options, set, scope) {
            offer(set, scope, &choice)
            return
        }
        var others = set
        while let index = others.next() {
            offer(KeyOptionSet(index), scope, &choice)
            for other in others {
                let pair = KeyOptionSet(index) + KeyOptionSet(other)
                if isAvailable(choice.options, pair, scope) { offer(pair, scope, &choice) }
            }
        }
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
    ///
    /// Beyond the first few, new shapes have two options: a pair is a part of many sets, so that some pairs keep the
    /// buckets of all of them short.
    func isAvailable(_ options: KeyOptions, _ set: KeyOptionSet, _ scope: UInt32) -> Bool {
        guard set.count > 1 else { return true }
        let count = scopes.pointer(scope).pointee.compositeCount
        let maximum = set.count == 2 ? IndexScope.compositeShapesMaximum : IndexScope.shapesOfAnySizeMaximum
        if count < maximum { return true }
        let number = shape(scope: scope, options, set)
        return number != 0 && shapes.pointer(number).pointee.keyCount > 0
    }
}

/// Which options of a conjunction are the cheapest keys of those looked at so far.
struct KeyChoice {
    /// The cost of a further key: that of this many postings in the way.
    private static let furtherKeyCost = 2.0

    /// The options that there are.
    let options: KeyOptions
    /// The cheapest set.
    private(set) var best = KeyOptionSet()
    private var cost = Double.infinity

    init(_ options: KeyOptions) { self.options = options }

    /// Whether a set could be cheaper, if no other posting were under its keys.
    func couldTake(_ set: KeyOptionSet, keyCount: Int) -> Bool {
        isCheaper(set, cost: Self.furtherKeyCost * Double(keyCount - 1))
    }

    /// Takes a set if it is cheaper: its keys have few other postings, and are few.
    mutating func offer(_ set: KeyOptionSet, postingCount: Int, keyCount: Int) {
        let offered =
            Double(postingCount) / Double(keyCount) + Self.furtherKeyCost * Double(keyCount - 1)
        guard isCheaper(set, cost: offered) else { return }
        best = set
        cost = offered
    }

    /// The option with more terms is likely to stay cheap, if two are equally cheap.
    private func isCheaper(_ set: KeyOptionSet, cost offered: Double) -> Bool {
        offered < cost || offered == cost && set.count > best.count
    }
}
