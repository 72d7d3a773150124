/// Which options of a conjunction are the cheapest keys of those looked at so far.
struct KeyChoice {
    /// What a further key costs: as much as this many postings in the way.
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

    /// Of two that are as cheap now, more terms are likely to stay so.
    private func isCheaper(_ set: KeyOptionSet, cost offered: Double) -> Bool {
        offered < cost || offered == cost && set.count > best.count
    }
}
