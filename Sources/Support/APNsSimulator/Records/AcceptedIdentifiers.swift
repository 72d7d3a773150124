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

/// The `apns-id`s that were accepted: a flat table of 16 bytes an entry, because there are as many as pushes.
struct IdentifierSet {
    /// How many identifiers are kept; beyond them duplicates are no longer found.
    static let countMaximum = 1 << 24

    private var slots: [APNsIdentifier]
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
    mutating func insert(_ identifier: APNsIdentifier) -> Bool {
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
    private static let empty = APNsIdentifier(high: 0, low: 0)

    /// Identifiers may count upwards, so their bits are mixed before they choose a slot.
    private static func firstIndex(_ identifier: APNsIdentifier, mask: Int) -> Int {
        let mixed = (identifier.high ^ (identifier.low &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
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
