import Glibc

/// The time of a signed request as the header `X-Amz-Date` writes it: `20150830T123600Z`.
struct AmazonDate {
    /// The text.
    let text: String
    /// The first eight characters, which the credential's scope repeats.
    var day: Substring { text.prefix(8) }
    /// The time in seconds since 1970.
    let seconds: Int64

    /// Reads a time, or answers nil.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int32? {
            bytes[range].reduce(0) { value, byte in
                guard let value, (48...57).contains(byte) else { return nil }
                return value * 10 + Int32(byte - 48)
            }
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15)
        else { return nil }
        var time = tm()
        time.tm_year = year - 1900
        time.tm_mon = month - 1
        time.tm_mday = day
        time.tm_hour = hour
        time.tm_min = minute
        time.tm_sec = second
        let seconds = timegm(&time)
        // A date that there is not has become another one.
        guard time.tm_mon == month - 1, time.tm_mday == day, time.tm_hour == hour, time.tm_min == minute,
            time.tm_sec == second
        else { return nil }
        self.text = text
        self.seconds = Int64(seconds)
    }

    /// A time as the header writes it.
    static func text(seconds: Int64) -> String {
        var time = tm()
        var moment = time_t(seconds)
        gmtime_r(&moment, &time)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y%m%dT%H%M%SZ", &time)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
