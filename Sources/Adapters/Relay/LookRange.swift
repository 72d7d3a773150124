/// From which number on a relay looks for rows.
///
/// Usually from the first on: a row with a lower number may be committed at any time. While a transaction elsewhere
/// stays open, PostgreSQL keeps all rows that were deleted since, and reads over them in each such look. So after a
/// whole look that was slow, others begin where its first row was, until whole looks take a small share of the time.
/// They begin no later than where rows were some time ago, because transactions that run together commit in any order.
struct LookRange {
    private static let slowNanoseconds: UInt64 = 100_000_000
    /// A whole look may take one of so many parts of the time.
    private static let parts: UInt64 = 20
    /// The longest time without a whole look, in nanoseconds: so much later may a row be found.
    private static let pauseNanosecondsMaximum: UInt64 = 10_000_000_000

    /// How long a transaction may take from its row to its commit, in nanoseconds, and be seen by every look.
    private static let commitNanoseconds: UInt64 = 1_000_000_000

    private var beginning: Int64 = 0
    private var wholeDueNanoseconds: UInt64 = 0
    /// The number after the last row that was ever found.
    private var end: Int64 = 0
    /// What `end` was at a time, and at one that is `commitNanoseconds` or more before.
    private var newerEnd: Int64 = 0
    private var olderEnd: Int64 = 0
    private var newerNanoseconds: UInt64 = 0

    /// Where a look begins; 0 for a whole look.
    func beginning(atNanoseconds now: UInt64) -> Int64 { now < wholeDueNanoseconds ? beginning : 0 }

    /// Takes note of a look.
    ///
    /// - Parameters:
    ///   - looked: where it began.
    ///   - nanoseconds: how long it took.
    ///   - now: when it ended.
    ///   - numbers: the first and the last number that it found; nil if it found none.
    mutating func looked(
        from looked: Int64, forNanoseconds nanoseconds: UInt64, until now: UInt64,
        finding numbers: (first: Int64, last: Int64)?
    ) {
        if let numbers { end = max(end, numbers.last &+ 1) }
        if now &- newerNanoseconds >= Self.commitNanoseconds {
            olderEnd = newerEnd
            (newerEnd, newerNanoseconds) = (end, now)
        }
        guard looked == 0 else { return }
        beginning = min(olderEnd, numbers?.first ?? end)
        noteDuration(nanoseconds, until: now)
    }

    /// Takes note of a look that failed, perhaps because it took too long: the next begin where others did.
    mutating func failed(forNanoseconds nanoseconds: UInt64, until now: UInt64) {
        noteDuration(nanoseconds, until: now)
    }

    private mutating func noteDuration(_ nanoseconds: UInt64, until now: UInt64) {
        let pause = min(nanoseconds, Self.pauseNanosecondsMaximum / Self.parts) * Self.parts
        wholeDueNanoseconds = nanoseconds < Self.slowNanoseconds ? 0 : now &+ pause
    }
}
