import Synchronization

/// The identities of the pushes that all loops together have accepted.
public final class AcceptedIdentifiers: Sendable {
    private struct Accepted {
        var identifiers: Set<UInt128> = []
        /// Whether an identifier was left out because there are too many.
        var hasOverflowed = false
    }

    /// How many identifiers are kept; beyond them duplicates are no longer found.
    private static let countMaximum = 1 << 24

    private let accepted = Mutex(Accepted())

    /// Begins without any.
    public init() {}

    /// Adds one.
    ///
    /// - Parameter identifier: 128 bits that tell the push from others.
    /// - Returns: false if it had been accepted before.
    public func insert(_ identifier: UInt128) -> Bool {
        accepted.withLock { accepted in
            guard accepted.identifiers.count < Self.countMaximum else {
                if accepted.identifiers.contains(identifier) { return false }
                accepted.hasOverflowed = true
                return true
            }
            return accepted.identifiers.insert(identifier).inserted
        }
    }

    /// How many distinct ones there are, and whether that is all of them.
    public var count: (distinct: Int, isComplete: Bool) {
        accepted.withLock { ($0.identifiers.count, !$0.hasOverflowed) }
    }
}
