/// Token buckets: how many requests each of many credentials may still make.
///
/// A bucket holds up to a burst and fills at a rate; a request takes one token. The table is bounded. When it is full,
/// full buckets are forgotten, which changes nothing for their owners. If there are none, a newcomer shares a common
/// bucket.
public struct RequestBudget: Sendable {
    private struct Bucket {
        var tokens: Double
        var updatedNanoseconds: UInt64
    }

    private let ratePerSecond: Double
    private let burst: Double
    private let bucketsMaximum: Int
    private var buckets: [String: Bucket] = [:]

    /// How many buckets there are.
    var count: Int { buckets.count }

    /// Creates an empty table, in which every bucket begins full.
    ///
    /// - Parameters:
    ///   - ratePerSecond: how many tokens flow into a bucket each second; at least one.
    ///   - burst: how many tokens a bucket holds; at least one.
    ///   - bucketsMaximum: how many credentials are told apart.
    public init(ratePerSecond: Int, burst: Int, bucketsMaximum: Int = 10_000) {
        self.ratePerSecond = Double(max(1, ratePerSecond))
        self.burst = Double(max(1, burst))
        self.bucketsMaximum = max(1, bucketsMaximum)
    }

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - key: the credential that the bucket belongs to.
    ///   - nowNanoseconds: the monotonic time.
    /// - Returns: nil if there was one, else in how many whole seconds, at least one, there will be.
    public mutating func take(_ key: String, nowNanoseconds: UInt64) -> Int? {
        let key = slot(key, nowNanoseconds)
        var bucket = refilled(buckets[key], nowNanoseconds)
        defer { buckets[key] = bucket }
        guard bucket.tokens >= 1 else { return Int(((1 - bucket.tokens) / ratePerSecond).rounded(.up)) }
        bucket.tokens -= 1
        return nil
    }

    /// Takes tokens even if there are not so many: the bucket then has less than none, and fills first.
    ///
    /// - Parameters:
    ///   - key: the credential that the bucket belongs to.
    ///   - count: how many to take.
    ///   - nowNanoseconds: the monotonic time.
    public mutating func owe(_ key: String, _ count: Int, nowNanoseconds: UInt64) {
        let key = slot(key, nowNanoseconds)
        var bucket = refilled(buckets[key], nowNanoseconds)
        bucket.tokens -= Double(max(0, count))
        buckets[key] = bucket
    }

    /// In how many whole seconds, at least one, there will be a token; nil if there is one.
    public mutating func waitSeconds(_ key: String, nowNanoseconds: UInt64) -> Int? {
        let tokens = refilled(buckets[slot(key, nowNanoseconds)], nowNanoseconds).tokens
        return tokens >= 1 ? nil : Int(((1 - tokens) / ratePerSecond).rounded(.up))
    }

    private mutating func slot(_ key: String, _ nowNanoseconds: UInt64) -> String {
        guard buckets[key] == nil, buckets.count >= bucketsMaximum else { return key }
        let kept = buckets.filter { refilled($0.value, nowNanoseconds).tokens < burst }
        buckets = kept
        return kept.count < bucketsMaximum ? key : ""
    }

    private func refilled(_ bucket: Bucket?, _ nowNanoseconds: UInt64) -> Bucket {
        guard let bucket else { return Bucket(tokens: burst, updatedNanoseconds: nowNanoseconds) }
        let elapsed =
            nowNanoseconds > bucket.updatedNanoseconds ? nowNanoseconds - bucket.updatedNanoseconds : 0
        let tokens = bucket.tokens + Double(elapsed) / 1_000_000_000 * ratePerSecond
        return Bucket(tokens: min(burst, tokens), updatedNanoseconds: max(nowNanoseconds, bucket.updatedNanoseconds))
    }
}
