import Notifications

/// The canonical text of a UUID, as the header `apns-id` carries it.
enum UUIDText {
    /// Reads 32 lowercase hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    ///
    /// Apple asks for lowercase ("Sending notification requests to APNs"), so uppercase digits are refused.
    ///
    /// - Parameter text: the value of the header.
    /// - Returns: the identifier, or nil if the text is anything else.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> APNsIdentifier? {
        let hyphen = UInt8(ascii: "-")
        guard text.count == APNsIdentifier.textLength, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen,
            text[23] == hyphen, let first = number(text, 0..<8), let second = number(text, 9..<13),
            let third = number(text, 14..<18), let fourth = number(text, 19..<23), let fifth = number(text, 24..<36)
        else { return nil }
        return APNsIdentifier(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth)
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            guard let value = HexadecimalDigits.value(ofLowercase: text[index]) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }
}
