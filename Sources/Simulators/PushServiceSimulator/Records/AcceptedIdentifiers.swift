import Synchronization

/// The identities of the pushes that all loops together have accepted.
public final class AcceptedIdentifiers: Sendable {
    private let identifiers = Mutex(IdentifierSet())

    /// Begins without any.
    public init() {}

    /// Adds one.
    ///
    /// - Parameter identifier: 128 bits that tell the push from others.
    /// - Returns: false if it had been accepted before.
    public func insert(_ identifier: UInt128) -> Bool { identifiers.withLock { $0.insert(identifier) } }

    /// How many distinct ones there are, and whether that is all of them.
    public var count: (distinct: Int, isComplete: Bool) { identifiers.withLock { ($0.count, !$0.hasOverflowed) } }
}

/// The identities that were accepted: a flat table of 16 bytes an entry, because there are as many as pushes.
struct IdentifierSet {
    /// How many identifiers are kept; beyond them duplicates are no longer found.
    static let countMaximum = 1 << 24

    private var slots: [UInt128]
    private var containsZero = false

    /// How many distinct identifiers there are.
    private(set) var count = 0

    /// Whether an identifier was left out because the set is full.
    private(set) var hasOverflowed = false

    /// Creates an empty set.
    init() { slots = Array(repeating: Self.empty, count: 1_024) }

    /// Adds an identifier.
    ///
    /// - Returns: false if it was there already.
    mutating func insert(_ identifier: UInt128) -> Bool {
        guard identifier != Self.empty else {
            defer { containsZero = true }
            if !containsZero { count += 1 }
            return !containsZero
        }
        var index = Self.firstIndex(identifier, mask: slots.count - 1)
        while slots[index] != Self.empty {
            if slots[index] == identifier { return false }
            index = (index + 1) & (slots.count - 1)
        }
        guard count < Self.countMaximum else {
            hasOverflowed = true
            return true
        }
        slots[index] = identifier
        count += 1
        if 2 * count > slots.count { grow() }
        return true
    }

    /// The identifier of all zeros marks a free slot and is kept apart.
    private static let empty: UInt128 = 0

    /// Identifiers may count upwards, so their bits are mixed before they choose a slot.
    private static func firstIndex(_ identifier: UInt128, mask: Int) -> Int {
        let (high, low) = (UInt64(truncatingIfNeeded: identifier >> 64), UInt64(truncatingIfNeeded: identifier))
        let mixed = (high ^ (low &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
        return Int(truncatingIfNeeded: mixed >> 20) & mask
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Self.empty, count: 2 * old.count)
        for identifier in old where identifier != Self.empty {
            var index = Self.firstIndex(identifier, mask: slots.count - 1)
            while slots[index] != Self.empty { index = (index + 1) & (slots.count - 1) }
            slots[index] = identifier
        }
    }
}
