/// Reads the timestamps of RFC 3339, the form of CloudEvents' attribute `time`.
public enum RFC3339 {
    /// Milliseconds since 1970, or nil if the text is no such timestamp.
    ///
    /// Fractions of any length are cut to milliseconds; a zone is demanded, as the RFC does. A leap second counts as
    /// the first second of the next minute.
    public static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        // The shortest is 2026-01-31T23:59:59Z.
        guard text.count >= 20, text.count <= 64 else { return nil }
        guard let year = number(text, 0..<4), text[4] == UInt8(ascii: "-"),
            let month = number(text, 5..<7), text[7] == UInt8(ascii: "-"),
            let day = number(text, 8..<10), isDateSeparator(text[10]),
            let hour = number(text, 11..<13), text[13] == UInt8(ascii: ":"),
            let minute = number(text, 14..<16), text[16] == UInt8(ascii: ":"),
            let second = number(text, 17..<19)
        else { return nil }
        guard (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        var position = 19
        guard let fraction = milliseconds(ofFractionIn: text, at: &position),
            let offsetMinutes = offsetMinutes(in: text, at: position)
        else { return nil }
        let minutes = (daysSince1970(year: year, month: month, day: day) * 24 + hour) * 60 + minute - offsetMinutes
        return (minutes * 60 + second) * 1000 + fraction
    }

    private static func isDateSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "T") || byte == UInt8(ascii: "t") || byte == UInt8(ascii: " ")
    }

    /// Reads an optional fraction; nil if it has no digits.
    private static func milliseconds(
        ofFractionIn text: UnsafeBufferPointer<UInt8>, at position: inout Int
    ) -> Int64? {
        guard text[position] == UInt8(ascii: ".") else { return 0 }
        position += 1
        let start = position
        var value: Int64 = 0
        var weight: Int64 = 100
        while position < text.count, let digit = digit(text[position]) {
            value += digit * weight
            weight /= 10
            position += 1
        }
        return position > start ? value : nil
    }

    /// Reads the zone, which must end the text: `Z`, or hours and minutes east of Greenwich.
    private static func offsetMinutes(in text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int64? {
        guard position < text.count else { return nil }
        let sign = text[position]
        if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return position + 1 == text.count ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), position + 6 == text.count,
            text[position + 3] == UInt8(ascii: ":"),
            let hours = number(text, (position + 1)..<(position + 3)), hours <= 23,
            let minutes = number(text, (position + 4)..<(position + 6)), minutes <= 59
        else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        for position in range {
            guard let digit = digit(text[position]) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte) - 48 : nil
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts in years that begin in March, so that the leap day is the last of its year.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = (month + 9) % 12
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        // Year 0 has its March in the era before, hence a century that is divisible by four is added and taken away.
        let years = shiftedYear + 400
        let days = years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear
        return days - 146_097 - 719_468
    }
}
