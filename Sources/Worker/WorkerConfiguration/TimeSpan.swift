/// A length of time as the configuration writes it: `500ms`, `30s`, `15m`, `24h`.
public struct TimeSpan: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The length in milliseconds; never negative.
    public let milliseconds: Int

    /// Creates a length of time.
    public init(milliseconds: Int) { self.milliseconds = max(0, milliseconds) }

    /// A number of seconds.
    public static func seconds(_ count: Int) -> TimeSpan { TimeSpan(milliseconds: count * 1_000) }
    /// A number of minutes.
    public static func minutes(_ count: Int) -> TimeSpan { seconds(count * 60) }
    /// A number of hours.
    public static func hours(_ count: Int) -> TimeSpan { minutes(count * 60) }

    private static let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]

    /// Reads a whole number and its unit, `ms`, `s`, `m` or `h`, without a blank between them.
    ///
    /// The result is nil if the text is anything else, or more than a century.
    ///
    /// - Parameter text: for example `15m`.
    public init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count)
        guard let count = Int(digits), let factor = Self.units.first(where: { $0.0 == unit })?.1 else { return nil }
        let (product, isTooLong) = count.multipliedReportingOverflow(by: factor)
        guard !isTooLong, product <= 100 * 366 * 24 * 3_600_000 else { return nil }
        milliseconds = product
    }

    /// The length in nanoseconds.
    public var nanoseconds: UInt64 { UInt64(milliseconds) * 1_000_000 }
    /// The length in seconds.
    public var seconds: Double { Double(milliseconds) / 1_000 }

    /// The length in the largest unit that leaves no fraction: `90s`, `2m`, `24h`.
    ///
    /// It names retry queues, too.
    public var description: String {
        let unit = Self.units.last { milliseconds > 0 && milliseconds.isMultiple(of: $0.1) } ?? Self.units[1]
        return "\(milliseconds / unit.1)\(unit.0)"
    }

    /// Orders by length.
    public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.milliseconds < right.milliseconds }
}
