public import Notifications

/// The device tokens that were rejected lately: a bounded set that forgets the oldest first.
///
/// It keeps 64-bit digests, not tokens. Two tokens with the same digest would only send the wrong one into quarantine,
/// where it is delivered all the same. Digests stand in groups of four by their lowest bits: a look-up reads one group.
/// If a group is full, the set doubles; at its largest size, a full group drops its oldest.
public struct RecentRejections: Sendable {
    private struct Entry: Sendable {
        /// 0 if the entry is empty.
        var digest: UInt64 = 0
        var nanoseconds: UInt64 = 0
    }

    /// How many tokens are kept at most.
    public static let tokensMaximum = 16_384
    /// How long a rejection counts, in nanoseconds.
    public static let validityNanoseconds: UInt64 = 3_600_000_000_000

    private static let entriesPerGroup = 4
    private static let entriesAtFirst = 64

    private let seed: UInt64
    /// Made at the first rejection, and as large as the rejections need: most routes see few.
    private var entries: [Entry] = []

    /// Creates an empty set.
    ///
    /// - Parameter seed: keeps others from choosing tokens that fall into the same group.
    public init(seed: UInt64) { self.seed = seed }

    /// Whether no token was ever rejected.
    public var isEmpty: Bool { entries.isEmpty }

    /// Whether a token was rejected lately, and not accepted since.
    public func contains(_ token: DeviceToken, nowNanoseconds: UInt64) -> Bool {
        guard !entries.isEmpty else { return false }
        let digest = token.digest(seed: seed)
        return index(of: digest).map { counts(entries[$0], nowNanoseconds) } ?? false
    }

    /// How many tokens there is room for now.
    var capacity: Int { entries.count }

    /// A push to a token was rejected because of the token.
    public mutating func rejected(_ token: DeviceToken, nowNanoseconds: UInt64) {
        if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.entriesAtFirst) }
        let entry = Entry(digest: token.digest(seed: seed), nanoseconds: nowNanoseconds)
        if let index = index(of: entry.digest) {
            entries[index] = entry
            return
        }
        var oldest = oldest(inGroupOf: entry.digest)
        while entries.count < Self.tokensMaximum, counts(entries[oldest], nowNanoseconds) {
            grow()
            oldest = self.oldest(inGroupOf: entry.digest)
        }
        entries[oldest] = entry
    }

    private func counts(_ entry: Entry, _ nowNanoseconds: UInt64) -> Bool {
        entry.digest != 0 && nowNanoseconds < entry.nanoseconds &+ Self.validityNanoseconds
    }

    /// The entry to replace: an empty one if there is one.
    private func oldest(inGroupOf digest: UInt64) -> Int {
        let group = group(of: digest)
        return group.dropFirst().reduce(group.lowerBound) { oldest, index in
            entries[index].nanoseconds < entries[oldest].nanoseconds ? index : oldest
        }
    }

    /// Doubles the groups: the entries of each are divided among two by one more bit.
    private mutating func grow() {
        let old = entries
        entries = Array(repeating: Entry(), count: 2 * old.count)
        for entry in old where entry.digest != 0 { entries[oldest(inGroupOf: entry.digest)] = entry }
    }

    /// A push to a token was accepted.
    public mutating func accepted(_ token: DeviceToken) {
        guard !entries.isEmpty, let index = index(of: token.digest(seed: seed)) else { return }
        entries[index] = Entry()
    }

    private func index(of digest: UInt64) -> Int? {
        for index in group(of: digest) where entries[index].digest == digest { return index }
        return nil
    }

    private func group(of digest: UInt64) -> Range<Int> {
        let groups = entries.count / Self.entriesPerGroup
        let start = Int(truncatingIfNeeded: digest & UInt64(groups - 1)) * Self.entriesPerGroup
        return start..<start + Self.entriesPerGroup
    }
}
