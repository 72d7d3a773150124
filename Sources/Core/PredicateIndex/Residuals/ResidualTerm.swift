import Predicates

/// The first two words of a term of a residual; its operands follow.
///
/// A residual is a count and that many terms, each with its own length, in words of 32 bits.
struct ResidualTerm {
    /// How many words the two are.
    static let headerWords = 2

    /// The test.
    var operation: ResidualOperation
    /// Whether texts are compared without their case.
    var isFolded = false
    /// Whether the term holds where the test fails.
    var isNegated: Bool
    /// How many words the term has, these included.
    var wordCount = 0
    /// The path of the field; 0 for all fields.
    var path: UInt32

    /// The first word.
    var head: UInt32 {
        operation.rawValue | (isFolded ? 1 << 6 : 0) | (isNegated ? 1 << 7 : 0) | UInt32(wordCount) << 8
    }

    /// Reads a term's first words.
    @inline(__always)
    init(_ words: UnsafePointer<UInt32>) {
        operation = ResidualOperation(rawValue: words[0] & 0x3F) ?? .never
        isFolded = words[0] & 1 << 6 != 0
        isNegated = words[0] & 1 << 7 != 0
        wordCount = Int(words[0] >> 8)
        path = words[1]
    }

    init(_ operation: ResidualOperation, isFolded: Bool = false, isNegated: Bool, path: UInt32) {
        self.operation = operation
        self.isFolded = isFolded
        self.isNegated = isNegated
        self.path = path
    }
}

/// The tests of a residual's terms.
enum ResidualOperation: UInt32 {
    /// Nothing passes.
    case never
    /// The digest of the value is one of these.
    case isIn
    /// The value lies within bounds.
    case isInRange
    /// The text begins with this.
    case beginsWith
    /// The text has this in it.
    case containsText
    /// The digest of a member of the list is one of these.
    case memberIsIn
    /// A member of the list begins with this.
    case memberBeginsWith
    /// The digest of a word is one of these.
    case hasWord
    /// The place is within a circle.
    case isWithin
}

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

    /// Appends a bound; false if it is a value without an order, so that the range is empty.
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
