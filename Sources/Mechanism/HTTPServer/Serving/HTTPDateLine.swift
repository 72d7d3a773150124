import Glibc

/// The value of the field `Date` (RFC 9110 section 5.6.7), made once for each second.
struct HTTPDateLine {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private var seconds: Int64 = .min
    private var text = ""

    /// The text for a time, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func text(secondsSince1970 seconds: Int64) -> String {
        guard seconds != self.seconds else { return text }
        self.seconds = seconds
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let day = Self.days[Int(parts.tm_wday)]
        let month = Self.months[Int(parts.tm_mon)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Self.twoDigits).joined(separator: ":")
        text = "\(day), \(Self.twoDigits(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1_900) \(clock) GMT"
        return text
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
