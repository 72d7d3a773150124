/// The time of a request that a server key signs: `2016-01-25T22:15:43Z`.
enum ServerKeyDate {
    /// Milliseconds since 1970; nil if the text is no such time, in UTC and without fractions of a second.
    static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        // Without its separators it is a time as Amazon's clients write it.
        let digits = text.filter { $0 != "-" && $0 != ":" }
        return AmazonDate(digits).map { $0.seconds * 1_000 }
    }
}
