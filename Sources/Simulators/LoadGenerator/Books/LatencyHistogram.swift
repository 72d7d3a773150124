/// Counts durations in bins that grow with the value, so that any percentile has an error of less than 1 %.
///
/// The bins are those of HdrHistogram with eight bits: values below 256 have a bin each, and each doubling above has
/// 128 bins. All durations up to two weeks take 36 KiB, however many are counted.
public struct LatencyHistogram: Sendable, Equatable {
    /// The largest value that has a bin of its own; larger ones count as this one.
    public static let valueMaximum: UInt64 = 1 << 40

    private var bins: [UInt64] = []
    /// How many values were counted.
    public private(set) var count: UInt64 = 0
    /// The sum of all values, for the mean.
    public private(set) var sum: UInt64 = 0
    /// The largest value; 0 if there is none.
    public private(set) var maximum: UInt64 = 0
    /// The smallest value; 0 if there is none.
    public private(set) var minimum: UInt64 = 0

    /// Creates an empty histogram.
    public init() {}

    /// The mean; 0 if there is no value.
    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// Counts a value, for example a latency in microseconds; a negative one counts as 0.
    public mutating func record(_ value: Int64) {
        let value = min(UInt64(max(0, value)), Self.valueMaximum)
        let bin = Self.bin(of: value)
        if bin >= bins.count { bins += repeatElement(0, count: bin + 1 - bins.count) }
        bins[bin] += 1
        minimum = count == 0 ? value : min(minimum, value)
        maximum = max(maximum, value)
        sum &+= value
        count += 1
    }

    /// Forgets all values but keeps the memory.
    public mutating func removeAll() {
        for bin in bins.indices { bins[bin] = 0 }
        (count, sum, maximum, minimum) = (0, 0, 0, 0)
    }

    /// The value that this share of all values does not exceed, rounded up to the end of its bin.
    ///
    /// - Parameter share: 0 to 1, for example 0.999.
    /// - Returns: the percentile by the nearest rank; 0 if there is no value.
    public func percentile(_ share: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = min(max(1, UInt64((min(max(0, share), 1) * Double(count)).rounded(.up))), count)
        var passed: UInt64 = 0
        for (bin, number) in bins.enumerated() {
            passed += number
            if passed >= rank { return min(Self.lastValue(ofBin: bin), maximum) }
        }
        return maximum
    }

    static func bin(of value: UInt64) -> Int {
        guard value >= 256 else { return Int(value) }
        let shift = 56 - value.leadingZeroBitCount
        return 128 * shift + Int(value >> UInt64(shift))
    }

    static func lastValue(ofBin bin: Int) -> UInt64 {
        guard bin >= 256 else { return UInt64(bin) }
        let shift = bin / 128 - 1
        return (UInt64(bin - 128 * shift) + 1) << UInt64(shift) - 1
    }
}
