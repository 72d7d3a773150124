import ChangeEvents
import DispatchCore
import PredicateIndex
import RegistryCore

/// Keeps the index of subscriptions in step with the registry, and asks it which subscriptions match a change.
///
/// Belongs to the registry's loop.
final class SubscriptionIndexUpdater {
    /// The most changes in one step: enough that reading costs little for each, and few enough that nothing else waits
    /// for long.
    static let changesPerStep = 10_000

    private let registry: any SubscriptionRegistry
    private let sizeChanged: (SubscriptionIndexSize) -> Void
    private var index: SubscriptionIndex
    private var cursor: SubscriptionCursor?

    /// Creates an index without subscriptions.
    ///
    /// - Parameters:
    ///   - registry: the registry to follow.
    ///   - sizeChanged: called with the size of the index when it has changed.
    init(registry: any SubscriptionRegistry, sizeChanged: @escaping (SubscriptionIndexSize) -> Void) {
        self.registry = registry
        self.sizeChanged = sizeChanged
        index = SubscriptionIndex(hashSeed: .random(in: .min ... .max))
    }

    /// How large the index is.
    var size: SubscriptionIndexSize {
        SubscriptionIndexSize(
            subscriptionCount: index.count, distinctPredicateCount: index.distinctPredicateCount,
            memoryBytes: index.memoryBytes)
    }

    /// Takes over the next changes.
    ///
    /// - Returns: whether everything that was committed before the call is in the index now.
    func step() throws(RegistryError) -> Bool {
        let step = try registry.subscriptionChanges(after: cursor, limit: Self.changesPerStep)
        if step.startsOver { index = SubscriptionIndex(hashSeed: .random(in: .min ... .max)) }
        for change in step.changes {
            switch change {
            case .saved(let subscription): insert(subscription)
            case .removed(let row): index.remove(row)
            }
        }
        if step.startsOver || !step.changes.isEmpty { sizeChanged(size) }
        cursor = step.next
        return step.isCaughtUp
    }

    /// Brings the index up to date: all subscriptions made before this call are found afterwards.
    func catchUp() throws(RegistryError) {
        while try !step() {}
    }

    private func insert(_ subscription: FollowedSubscription) {
        index.insert(
            subscription.row, scope: MatchScope(application: subscription.app, recordType: subscription.recordType),
            operations: subscription.firesOn, predicate: subscription.predicate)
    }

    /// The subscriptions that hear of each of some changes, in ascending order, and whether finding them took unusually
    /// many steps.
    func subscriptions(matching changes: [RecordChange]) -> [(rows: [Int64], wasSlow: Bool)] {
        let inputs = changes.map { change in
            MatchInput(
                application: change.app, recordType: change.recordType, operations: change.operation.firing,
                fields: change.matchedFields)
        }
        var found: [(rows: [Int64], wasSlow: Bool)] = []
        index.match(inputs) { _, rows, outcome in found.append((rows.sorted(), !outcome.isComplete)) }
        // Every subscriber has to be found, even if that takes long.
        for position in inputs.indices where found[position].wasSlow {
            _ = index.match(inputs[position], into: &found[position].rows, stepsMaximum: .max)
            found[position].rows.sort()
        }
        return found
    }
}
