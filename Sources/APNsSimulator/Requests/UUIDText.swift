import PushCore

/// The canonical text of a UUID, as the header `apns-id` carries it.
enum UUIDText {
    /// Reads 32 lowercase hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    ///
    /// Apple asks for lowercase ("Sending notification requests to APNs"), so uppercase digits are refused.
    ///
    /// - Returns: the identifier, or nil if the text is anything else.
    static func parse(_ text: ArraySlice<UInt8>) -> APNsIdentifier? {
        guard text.count == APNsIdentifier.textLength else { return nil }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var digitCount = 0
        for (offset, byte) in text.enumerated() {
            if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let value = HexadecimalDigits.value(ofLowercase: byte) else { return nil }
            if digitCount < 16 {
                words.high = words.high << 4 | UInt64(value)
            } else {
                words.low = words.low << 4 | UInt64(value)
            }
            digitCount += 1
        }
        return APNsIdentifier(high: words.high, low: words.low)
    }
}
