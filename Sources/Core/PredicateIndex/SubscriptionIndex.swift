public import Predicates

/// Finds the subscriptions whose predicates a record satisfies, among millions, in microseconds.
///
/// Equal predicates are one entry, however many subscribe with them. Entries lie in one table under keys made of the
/// values that they ask for. A change is looked up once for each set of fields in use, not once for each subscription
/// (see `Index/IndexStore.swift`). The result is exactly what `Predicate.matches` says.
///
/// An index is not shared: it lives on one loop. The time of an addition or removal does not depend on the size (at
/// most a segment of some thousand slots is moved), so both may happen between any two changes.
public final class SubscriptionIndex {
    /// How many steps a change may take unless the caller says otherwise: a few milliseconds.
    public static let stepsMaximum = 50_000

    private var store: IndexStore

    /// Creates an empty index.
    ///
    /// - Parameter hashSeed: a secret, because subscribers choose the values that are hashed.
    public init(hashSeed: UInt64) { store = IndexStore(hashSeed: hashSeed) }

    /// Adds a subscription, or replaces it.
    ///
    /// - Parameters:
    ///   - row: the number by which the registry knows it.
    ///   - scope: which records it is about.
    ///   - operations: the changes that it hears of.
    ///   - predicate: the condition on a record.
    public func insert(_ row: Int64, scope: MatchScope, operations: FiringOperations, predicate: Predicate) {
        store.insert(row, scope, operations, predicate)
    }

    /// Removes a subscription.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    public func remove(_ row: Int64) -> Bool { store.remove(row) }

    /// How many subscriptions there are.
    public var count: Int { store.rowTable.count }
    /// How many different predicates they have; the same predicate in another scope or for other operations counts as
    /// another.
    public var distinctPredicateCount: Int { store.predicateCount }
    /// The memory that is held, in bytes.
    public var memoryBytes: Int { store.memoryBytes }

    /// Appends the rows of the subscriptions whose predicates the record satisfies, each once, in any order.
    ///
    /// A change that takes too many steps (many predicates that need the record itself, or a record with very many
    /// members or words) reports no row and says so, rather than delay later changes.
    ///
    /// - Parameters:
    ///   - record: the change.
    ///   - rows: the found rows are appended.
    ///   - stepsMaximum: how many steps it may take.
    /// - Returns: whether the search was complete. If not, match again with more steps, when there is time.
    public func match(
        _ record: MatchInput, into rows: inout [Int64], stepsMaximum: Int = SubscriptionIndex.stepsMaximum
    ) -> MatchOutcome {
        store.match(record, stepsMaximum: stepsMaximum, into: &rows)
    }

    /// Finds the subscriptions of several records at once, in less time for each than the other form.
    ///
    /// Most of the time of a search in a large index is spent waiting for memory; several searches wait together.
    ///
    /// - Parameters:
    ///   - records: the changes, in any number.
    ///   - stepsMaximum: how many steps each may take.
    ///   - found: is called for each change in order, with its index in `records`, the rows (in any order) and how the
    ///     search went. It must not use the subscription index.
    public func match(
        _ records: [MatchInput], stepsMaximum: Int = SubscriptionIndex.stepsMaximum,
        found: (_ index: Int, _ rows: [Int64], _ outcome: MatchOutcome) -> Void
    ) {
        var begin = 0
        while begin < records.count {
            let end = min(begin + MatchContexts.count, records.count)
            store.match(records[begin..<end], stepsMaximum: stepsMaximum, found)
            begin = end
        }
    }

    /// The cost of additions and removals so far: the slots that they read or moved.
    var touchedSlots: Int { store.touchedSlots }
    /// Whether the index is empty, without even a name.
    var isEmptyInside: Bool { store.isEmpty }
}
