public import ChangeEvents

/// An event that the registry remembers, because its pushes have ended.
public struct RememberedEvent: Hashable, Sendable {
    /// Its identity.
    public var identity: EventIdentity
    /// The digest of its content (`Message.contentDigest`).
    public var content: Int64

    /// Describes an event.
    public init(identity: EventIdentity, content: Int64) {
        self.identity = identity
        self.content = content
    }
}

/// One of the equal parts of all keys (`EventIdentity.key`), in which the registry forgets events.
///
/// Keys are spread evenly, so a part has its share of all events. To forget part by part needs no index by age, and no
/// count of all rows.
public struct EventMemorySlice: Hashable, Sendable {
    /// How many parts there are.
    public static let count = 4_096

    /// The number of the part, from 0.
    public let number: Int

    /// The part of a number, of which the remainder counts.
    public init(_ number: Int) { self.number = Int(UInt(bitPattern: number) % UInt(Self.count)) }

    /// The next part; the first one after the last.
    public var next: EventMemorySlice { EventMemorySlice(number + 1) }

    /// The keys of the part.
    public var keys: ClosedRange<Int64> {
        let width = UInt64.max / UInt64(Self.count) + 1
        let first = Int64.min &+ Int64(truncatingIfNeeded: UInt64(number) &* width)
        return first...(first &+ Int64(truncatingIfNeeded: width &- 1))
    }

    /// How many events of the part are kept if so many of all parts are.
    public func share(of maximum: Int) -> Int { max(1, maximum / Self.count) }
}

/// Limits of the memory of events.
public enum EventMemoryRules {
    /// The version of the registry's schema that brought it.
    public static let schemaVersion: Int64 = 5
    /// From when the registry counts the seconds of an end: 2020-01-01, so that they fit into 32 bits until 2088.
    public static let epochMilliseconds: Int64 = 1_577_836_800_000
}
