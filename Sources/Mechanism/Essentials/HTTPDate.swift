/// The dates of HTTP fields such as `date` and `retry-after`, which come in three forms (RFC 9110 section 5.6.7).
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
public enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// Years of two digits count from 1970 to 2069: a server that still writes them means a time about now.
    private static let shortYearPivot = 70

    /// The text of a time in seconds since 1970, in the first form.
    public static func text(_ seconds: Int64) -> String {
        let (days, second) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = WallTime.civil(daysSince1970: days)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded(Int($0)) }.joined(separator: ":")
        return "\(weekdays[Int(days % 7)]), \(padded(Int(day))) \(months[Int(month) - 1]) \(year) \(clock) GMT"
    }

    /// Seconds since 1970, or nil if the text is no such date.
    public static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split { " ,-".contains($0) }
        // The form of C's asctime has the year at the end.
        let isAsctime = words.count == 5
        guard isAsctime || words.count == 6 && words[5] == "GMT",
            let month = months.firstIndex(of: String(words[isAsctime ? 1 : 2])),
            let day = number(words[isAsctime ? 2 : 1], digits: 1...2),
            let year = year(words[isAsctime ? 4 : 3])
        else { return nil }
        let time = words[isAsctime ? 3 : 4]
        let date = "\(year)-\(padded(month + 1))-\(padded(day))T\(time)Z"
        return WallTime.milliseconds(date).map { $0 / 1_000 }
    }

    private static func year(_ word: Substring) -> Int? {
        if word.utf8.count == 4 { return number(word, digits: 4...4).flatMap { $0 >= 1_970 ? $0 : nil } }
        return number(word, digits: 2...2).map { $0 + ($0 < shortYearPivot ? 2_000 : 1_900) }
    }

    private static func number(_ word: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(word.utf8.count), word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(word)
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
