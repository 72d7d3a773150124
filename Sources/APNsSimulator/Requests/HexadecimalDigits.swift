/// Digits of base 16, as device tokens and identifiers are written.
enum HexadecimalDigits {
    /// The value of a digit of either case, or nil for any other byte.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }

    /// The value of a digit, which must be lowercase, or nil.
    static func value(ofLowercase digit: UInt8) -> UInt8? {
        (65...70).contains(digit) ? nil : value(of: digit)
    }
}
