/// A point in time of the wall clock, in milliseconds since 1970, bounded to the years that RFC 3339 can write.
///
/// Every point in time from outside (a header, a property, a member of JSON, an answer, a row) becomes a `WallTime`
/// where it is read: a number beyond the bounds becomes the nearest bound. So sums and differences of such points
/// cannot overflow.
public struct WallTime: Hashable, Comparable, Sendable {
    /// The beginning of 1970.
    public static let earliest = WallTime(milliseconds: 0)
    /// The last millisecond of the year 9999.
    public static let latest = WallTime(milliseconds: latestMilliseconds)

    private static let latestMilliseconds: Int64 = 253_402_300_799_999

    /// Milliseconds since 1970: 0 to 253,402,300,799,999.
    public let milliseconds: Int64

    /// Creates a point in time from milliseconds since 1970, or the nearest one that there is.
    public init(milliseconds: some BinaryInteger) {
        self.milliseconds = min(max(0, Int64(clamping: milliseconds)), Self.latestMilliseconds)
    }

    /// Creates a point in time from seconds since 1970, or the nearest one that there is.
    public init(seconds: some BinaryInteger) {
        self.init(milliseconds: min(max(0, Int64(clamping: seconds)), Self.latestMilliseconds / 1_000) * 1_000)
    }

    /// Seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds / 1_000 }

    /// The point in time that is so many milliseconds later, or the nearest one that there is.
    public func advanced(byMilliseconds duration: Int64) -> WallTime {
        // Neither sum can overflow, because both operands are bounded.
        let bounded = min(max(-Self.latestMilliseconds, duration), Self.latestMilliseconds)
        return WallTime(milliseconds: milliseconds + bounded)
    }

    /// How many milliseconds the left one is later than the right one.
    public static func - (left: WallTime, right: WallTime) -> Int64 { left.milliseconds - right.milliseconds }

    /// Whether the left one is earlier.
    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    /// The time in UTC with milliseconds, for example `2024-05-06T07:08:09.123Z`.
    public static func text(milliseconds: Int64) -> String {
        let (dayNumber, ofDay) = floorDivide(milliseconds, by: 86_400_000)
        let (year, month, day) = civil(daysSince1970: dayNumber)
        let (seconds, fraction) = (ofDay / 1_000, ofDay % 1_000)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        return "\(date)T\(time).\(padded(fraction, 3))Z"
    }

    /// Milliseconds since 1970 of a time with a zone, as RFC 3339 writes it; nil if the text is none.
    public static func milliseconds(_ text: String) -> Int64? { text.readingUTF8(RFC3339.milliseconds) }

    /// The date of a day, by counting the days of 400-year cycles that begin on 1 March, so that the leap day comes
    /// last (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    static func civil(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (cycle, dayOfCycle) = floorDivide(daysSince1970 + 719_468, by: 146_097)
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
