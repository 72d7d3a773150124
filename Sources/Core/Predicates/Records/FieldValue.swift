internal import Essentials
public import Geography
internal import UnicodeText

/// The value of a record's field, or the operand of a comparison.
///
/// Make values with `of`, which brings them into the one form that equal values share: text is composed (NFC), a whole
/// number that came as a fraction is an integer, there is no negative zero.
public enum FieldValue: Hashable, Sendable {
    /// Text, in NFC.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number that is no `integer`: with a fraction, or beyond its range; always finite.
    case double(Double)
    /// True or false. It compares as the numbers 1 and 0, because CloudKit has no other way to store it.
    case boolean(Bool)
    /// A moment in milliseconds since 1970. It compares as that number.
    case date(milliseconds: Int64)
    /// Bytes.
    case bytes([UInt8])
    /// Another record, by its name and that of the zone it lies in, both in NFC.
    ///
    /// Few records have one: stored indirectly, it does not make every other value larger.
    indirect case reference(recordName: String, zoneName: String)
    /// A place.
    case location(Location)
    /// Several values.
    case list([FieldValue])

    /// The zone that a record lies in, and a reference points into, unless another one is named (CloudKit).
    public static let defaultZoneName = "_defaultZone"

    /// Text, brought into its form.
    public static func of(_ text: String) -> FieldValue { .string(TextForm.canonical.applied(to: text)) }

    /// A number, brought into its form; nil if it is not a number.
    ///
    /// A number beyond the range of doubles counts as the largest double, in records and conditions alike.
    public static func of(_ number: Double) -> FieldValue? {
        guard !number.isNaN else { return nil }
        if let integer = Int64(exactly: number) { return .integer(integer) }
        return .double(min(max(number, -.greatestFiniteMagnitude), .greatestFiniteMagnitude))
    }

    /// A reference to a record, the names brought into their form.
    public static func reference(
        to recordName: String, zoneName: String = FieldValue.defaultZoneName
    ) -> FieldValue {
        .reference(
            recordName: TextForm.canonical.applied(to: recordName), zoneName: TextForm.canonical.applied(to: zoneName))
    }

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
            let order = left.byteOrder(to: right)
            return order == 0 ? .same : order < 0 ? .before : .after
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

    /// Whether it is a number without a fraction, of any size.
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

/// How a value lies to another.
public enum ValueOrder: Hashable, Sendable {
    /// Less.
    case before
    /// Equal.
    case same
    /// Greater.
    case after

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .before : left == right ? .same : .after
    }

    /// Compares a whole number with one that is none (or is beyond the range of whole numbers), exactly.
    init(_ left: Int64, _ right: Double) {
        // 2^63 as a double is exact; every double below it has a floor that fits.
        if right >= 0x1p63 {
            self = .before
        } else if right < -0x1p63 {
            self = .after
        } else {
            let floor = Int64(right.rounded(.down))
            self = left > floor ? .after : left < floor || Double(floor) < right ? .before : .same
        }
    }

    var reversed: ValueOrder {
        switch self {
        case .before: .after
        case .same: .same
        case .after: .before
        }
    }
}

/// Which differences between texts do not count when they are compared for equality.
public enum TextFolding: UInt8, Hashable, Sendable, CaseIterable {
    /// All count (AppSync; CloudKit everywhere but in equality).
    case exact
    /// Upper and lower case are the same (CloudKit's equality).
    case caseInsensitive
}
