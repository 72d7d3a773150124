/// The time in the headers `date` and `retry-after`; from the first, senders learn how wrong their clocks are.
public enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The text of a time in seconds since 1970, as RFC 9110 section 5.6.7 prefers it.
    public static func text(_ seconds: Int64) -> String {
        let (days, second) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
        // Days from 1 March 0000 on, in eras of 400 years (Howard Hinnant, "chrono-compatible date algorithms").
        let (era, day) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = Int((monthFromMarch + 2) % 12)
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return """
            \(weekdays[Int(days % 7)]), \(two(dayOfMonth)) \(months[month]) \(year) \
            \(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT
            """
    }
}
