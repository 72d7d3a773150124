public import Notifications

/// The device tokens that were rejected lately: a bounded set that forgets the oldest first.
///
/// It keeps 64-bit digests, not tokens. Two tokens with the same digest would only send the wrong one into quarantine,
/// where it is delivered all the same. Digests stand in groups of four by their lowest bits: a look-up reads one group,
/// and a full group drops its oldest.
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

    private let seed: UInt64
    /// Made at the first rejection: most routes never see one.
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
        guard let index = index(of: digest) else { return false }
        return nowNanoseconds < entries[index].nanoseconds &+ Self.validityNanoseconds
    }

    /// A push to a token was rejected because of the token.
    public mutating func rejected(_ token: DeviceToken, nowNanoseconds: UInt64) {
        if entries.isEmpty { entries = Array(repeating: Entry(), count: Self.tokensMaximum) }
        let digest = token.digest(seed: seed)
        let oldest = group(of: digest).min { entries[$0].nanoseconds < entries[$1].nanoseconds }
        guard let index = index(of: digest) ?? oldest else { return }
        entries[index] = Entry(digest: digest, nanoseconds: nowNanoseconds)
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
        let groups = Self.tokensMaximum / Self.entriesPerGroup
        let start = Int(truncatingIfNeeded: digest & UInt64(groups - 1)) * Self.entriesPerGroup
        return start..<start + Self.entriesPerGroup
    }
}
