internal import Essentials

/// Reads the header `retry-after`: seconds, or a date (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// No server means more than a year.
    private static let secondsMaximum: Int64 = 366 * 86_400

    /// The seconds that a value means.
    ///
    /// - Parameters:
    ///   - value: the header's value.
    ///   - date: the header `date` of the same answer. A date counts from there, because the two come from one clock.
    ///   - nowSeconds: the time of this machine, in seconds since 1970, in place of a `date`.
    /// - Returns: 0 or more, at most a year; nil if the value is of neither form, or a date that has passed. Such a
    ///   date tells of wrong clocks and not of a wait.
    static func seconds(_ value: String, date: String?, nowSeconds: Int64) -> Int? {
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            return Int(min(secondsMaximum, Int64(value) ?? secondsMaximum))
        }
        guard let then = HTTPDate.seconds(value) else { return nil }
        let (left, overflows) = then.subtractingReportingOverflow(date.flatMap(HTTPDate.seconds) ?? nowSeconds)
        return overflows || left <= 0 ? nil : Int(min(left, secondsMaximum))
    }
}
