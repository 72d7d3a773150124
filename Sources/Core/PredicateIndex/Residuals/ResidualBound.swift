import Predicates

/// An end of a range as it stands in a residual: one word of what it is, and its operand.
enum ResidualBound {
    /// The kinds of ends.
    enum Kind: UInt32 {
        case none
        case integer
        case double
        case text
    }

    static let isIncluded: UInt32 = 1 << 2

    /// Appends a bound; false if it is a value without an order, so that nothing is in the range.
    static func append(_ bound: ValueRange.Bound?, to words: inout [UInt32]) -> Bool {
        guard let bound else {
            words.append(Kind.none.rawValue)
            return true
        }
        let included = bound.isIncluded ? isIncluded : 0
        if case .string(let text) = bound.value {
            words.append(Kind.text.rawValue | included)
            words.append(text: text)
            return true
        }
        switch bound.value.number {
        case .integer(let number):
            words.append(Kind.integer.rawValue | included)
            words.append(word: UInt64(bitPattern: number))
        case .double(let number):
            words.append(Kind.double.rawValue | included)
            words.append(word: number.bitPattern)
        default: return false
        }
        return true
    }
}
