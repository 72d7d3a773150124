/// Decides which log entries are written: from each place that logs, 20 at once and then one a second.
struct LogRateLimiter {
    private struct Bucket {
        var credit: Int
        var lastMilliseconds: Int64
        var suppressedCount = 0
    }

    static let burstCount = 20
    static let refillMilliseconds: Int64 = 1_000

    /// By the address of the event's name, of which there is one for each place: finding it allocates nothing.
    private var buckets: [UInt: Bucket] = [:]

    /// Asks for one entry.
    ///
    /// - Parameters:
    ///   - event: the event's name.
    ///   - now: the time in milliseconds.
    /// - Returns: nil if it must not be written, else how many were not since the last that was.
    mutating func admit(_ event: StaticString, atMilliseconds now: Int64) -> Int? {
        let place = event.hasPointerRepresentation ? UInt(bitPattern: event.utf8Start) : 0
        var bucket = buckets[place] ?? Bucket(credit: Self.burstCount, lastMilliseconds: now)
        defer { buckets[place] = bucket }
        let refills = (now - bucket.lastMilliseconds) / Self.refillMilliseconds
        if refills > 0 {
            bucket.credit = Int(min(Int64(Self.burstCount), Int64(bucket.credit) + refills))
            bucket.lastMilliseconds += refills * Self.refillMilliseconds
        } else if now < bucket.lastMilliseconds {
            // The clock on the wall was set back: begin anew rather than stay silent until it has caught up.
            bucket.lastMilliseconds = now
        }
        guard bucket.credit > 0 else {
            bucket.suppressedCount += 1
            return nil
        }
        bucket.credit -= 1
        defer { bucket.suppressedCount = 0 }
        return bucket.suppressedCount
    }
}
