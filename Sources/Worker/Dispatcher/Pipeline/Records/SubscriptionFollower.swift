import PredicateIndex
import PushCore

/// Keeps the index of subscriptions in step with the registry, and asks it who hears of a change.
///
/// Belongs to the pipeline's loop.
final class SubscriptionFollower {
    /// How many changes are taken over at once: so many that reading them costs little for each, and so few that
    /// nothing else waits for long.
    static let changesPerStep = 10_000

    private let registry: any SubscriptionRegistry
    private var index: SubscriptionIndex
    private var cursor: SubscriptionCursor?

    /// Whether the index has changed since this was last set to false.
    var isChanged = false

    init(registry: any SubscriptionRegistry) {
        self.registry = registry
        index = SubscriptionIndex(hashSeed: .random(in: .min ... .max))
    }

    /// How many subscriptions are in the index.
    var count: Int { index.count }
    /// How many different predicates they have.
    var distinctPredicateCount: Int { index.distinctPredicateCount }
    /// How much memory the index takes, in bytes.
    var memoryBytes: Int { index.memoryBytes }

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
        isChanged = isChanged || step.startsOver || !step.changes.isEmpty
        cursor = step.next
        return step.isCaughtUp
    }

    /// Brings the index up to date: whoever subscribed before this call is found afterwards.
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
    func subscriptions(hearing changes: [RecordChange]) -> [(rows: [Int64], wasSlow: Bool)] {
        let inputs = changes.map { change in
            MatchInput(
                application: change.app, recordType: change.recordType, operations: change.operation.firing,
                fields: change.matchedFields)
        }
        var found: [(rows: [Int64], wasSlow: Bool)] = []
        index.match(inputs) { _, rows, outcome in found.append((rows.sorted(), !outcome.isComplete)) }
        // Nobody may be left out, whatever it takes.
        for place in inputs.indices where found[place].wasSlow {
            _ = index.match(inputs[place], into: &found[place].rows, stepsMaximum: .max)
            found[place].rows.sort()
        }
        return found
    }
}
