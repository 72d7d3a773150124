import Predicates

/// A decimal number of any size: its digits, multiplied by a power of ten.
struct DecimalNumber {
    /// The most bytes of an unscaled number; a double needs 128 at most.
    static let bytesMaximum = 1_024
    /// The longest text.
    private static let textBytesMaximum = 4_096
    /// The most digits of a whole number that may fit into 64 bits.
    private static let integerDigitsMaximum = 19

    private let isNegative: Bool
    /// The digits as characters, without zeros at either end; empty for zero.
    private let digits: ArraySlice<UInt8>
    /// The power of ten.
    private let exponent: Int

    private init(isNegative: Bool, digits: [UInt8], exponent: Int) {
        let zero = UInt8(ascii: "0")
        var rest = digits.drop { $0 == zero }
        let count = rest.count
        while rest.last == zero { rest.removeLast() }
        self.isNegative = isNegative
        self.digits = rest
        self.exponent = exponent + count - rest.count
    }

    /// Reads an unscaled number: two's complement, the most significant byte first (Java's `BigInteger`).
    ///
    /// - Returns: nil if there is no byte, or more than `bytesMaximum`.
    init?(unscaled bytes: [UInt8], scale: Int) {
        guard let first = bytes.first, bytes.count <= Self.bytesMaximum else { return nil }
        let isNegative = first >= 0x80
        var magnitude = bytes
        if isNegative {
            var carry: UInt8 = 1
            for index in magnitude.indices.reversed() {
                let (sum, overflows) = (~magnitude[index]).addingReportingOverflow(carry)
                magnitude[index] = sum
                carry = overflows ? 1 : 0
            }
        }
        self.init(isNegative: isNegative, digits: Self.digits(of: magnitude), exponent: -scale)
    }

    /// Reads the text of a number as JSON, SQL or Java write it; nil if it is none.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count <= Self.textBytesMaximum else { return nil }
        var rest = text[...]
        let sign = rest.first
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: Self.isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = 0
        if let mark = rest.first {
            // No number of a database has an exponent of more digits.
            guard mark | 0x20 == UInt8(ascii: "e"), rest.count <= 8,
                let number = Int(String(decoding: rest.dropFirst(), as: UTF8.self))
            else { return nil }
            exponent = number
        }
        self.init(
            isNegative: sign == UInt8(ascii: "-"), digits: Array(whole) + Array(fraction),
            exponent: exponent - fraction.count)
    }

    /// The number as a field has it: exact if it is whole and fits into 64 bits, else the nearest double.
    var fieldValue: FieldValue? {
        guard !digits.isEmpty else { return .integer(0) }
        let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        if exponent >= 0, digits.count + exponent <= Self.integerDigitsMaximum,
            let integer = Int64(text + String(repeating: "0", count: exponent))
        {
            return .integer(integer)
        }
        return Double("\(text)E\(exponent)").flatMap(FieldValue.of)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The decimal digits of a number whose most significant byte comes first.
    private static func digits(of magnitude: [UInt8]) -> [UInt8] {
        // In base 1 000 000 000, the least significant first.
        var limbs: [UInt64] = []
        for byte in magnitude {
            var carry = UInt64(byte)
            for index in limbs.indices {
                let product = limbs[index] * 256 + carry
                limbs[index] = product % 1_000_000_000
                carry = product / 1_000_000_000
            }
            if carry > 0 { limbs.append(carry) }
        }
        return limbs.reversed().flatMap { limb -> [UInt8] in
            let digits = Array(String(limb).utf8)
            return Array(repeating: UInt8(ascii: "0"), count: 9 - digits.count) + digits
        }
    }
}
