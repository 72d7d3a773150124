import Notifications
import Synchronization

/// The `apns-id`s that all loops together have accepted.
final class AcceptedIdentifiers: Sendable {
    private let identifiers = Mutex(IdentifierSet())

    /// Adds one.
    ///
    /// - Returns: false if it had been accepted before.
    func insert(_ identifier: APNsIdentifier) -> Bool { identifiers.withLock { $0.insert(identifier) } }

    /// How many distinct ones there are, and whether that is all of them.
    var count: (distinct: Int, isComplete: Bool) { identifiers.withLock { ($0.count, !$0.hasOverflowed) } }
}
