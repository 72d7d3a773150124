/// The whole message of one push: the time that is left, and what the builder wrote once for all.
///
/// Amazon, "Send a message" (ADM): `expiresAfter` is how long ADM keeps the message for a device that is away, in
/// seconds, a week by default. Its range is told by clients of ADM, not by the part of the page that could be read.
public enum ADMMessageWriter {
    /// How the text of the builder begins, which gives way to the time that is left.
    static let beginning: StaticString = "{"

    /// The range of `expiresAfter`, in seconds: a minute to 31 days.
    ///
    /// A push that is "now or never" is kept for the minute.
    public static let expiresAfterSeconds: ClosedRange<Int64> = 60...2_678_400

    /// Writes the message of one push.
    ///
    /// - Parameters:
    ///   - content: the content from `ADMMessageBuilder`.
    ///   - nowSeconds: the wall clock, in seconds since 1970, from which `expiresAfter` counts.
    ///   - buffer: receives the JSON; its former content goes.
    public static func write(_ content: PushContent, nowSeconds: Int64, into buffer: inout [UInt8]) {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(UInt8(ascii: "{"))
        if let expiration = content.expirationSeconds {
            // Two times of at most 2^63 may lie further apart than a number can say.
            let (left, overflows) = expiration.subtractingReportingOverflow(nowSeconds)
            let range = expiresAfterSeconds
            let seconds =
                overflows
                ? (expiration > nowSeconds ? range.upperBound : range.lowerBound)
                : min(max(left, range.lowerBound), range.upperBound)
            buffer.append(contentsOf: #""expiresAfter":"#.utf8)
            buffer.append(contentsOf: String(seconds).utf8)
            buffer.append(UInt8(ascii: ","))
        }
        buffer.append(contentsOf: content.payload)
    }
}
