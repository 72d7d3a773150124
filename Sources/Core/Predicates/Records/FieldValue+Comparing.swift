internal import UnicodeText

extension FieldValue {
    /// Whether two values are equal: numbers, dates and booleans by their number, text as `folding` says, everything
    /// else only with its own kind.
    public func isEqual(to other: FieldValue, _ folding: TextFolding) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
                || folding == .caseInsensitive
                    && TextForm.caseFolded.applied(to: left).utf8
                        .elementsEqual(TextForm.caseFolded.applied(to: right).utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left, let leftZone), .reference(let right, let rightZone)):
            left.utf8.elementsEqual(right.utf8) && leftZone.utf8.elementsEqual(rightZone.utf8)
        case (.location(let left), .location(let right)): left == right
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isEqual(to: $1, folding) }
        default: order(against: other) == .same
        }
    }

    /// How a value lies to another; nil if the two cannot be ordered.
    ///
    /// Numbers, dates and booleans are ordered by their number, exactly (2^53 + 1 is greater than 2^53), text by its
    /// bytes.
    public func order(against other: FieldValue) -> ValueOrder? {
        if case .string(let left) = self, case .string(let right) = other {
            return left.utf8.elementsEqual(right.utf8)
                ? .same : left.utf8.lexicographicallyPrecedes(right.utf8) ? .before : .after
        }
        switch (number, other.number) {
        case (.integer(let left), .integer(let right)): return ValueOrder(left, right)
        case (.double(let left), .double(let right)): return ValueOrder(left, right)
        case (.integer(let left), .double(let right)): return ValueOrder(left, right)
        case (.double(let left), .integer(let right)): return ValueOrder(right, left).reversed
        default: return nil
        }
    }

    /// The number that a value counts as: `.integer` or `.double`; nil if it is none.
    public var number: FieldValue? {
        switch self {
        case .integer, .double: self
        case .boolean(let value): .integer(value ? 1 : 0)
        case .date(let milliseconds): .integer(milliseconds)
        case .string, .bytes, .reference, .location, .list: nil
        }
    }

    /// Whether it is a number without a fraction, of whatever size.
    var isWhole: Bool {
        switch self {
        case .integer: true
        case .double(let number): number.rounded() == number
        default: false
        }
    }

    /// The whole number of 64 bits that a number is rounded down to, or that is nearest to it; nil if it is no number.
    var nearestInteger: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number.rounded(.down)) ?? (number < 0 ? .min : .max)
        default: nil
        }
    }
}
