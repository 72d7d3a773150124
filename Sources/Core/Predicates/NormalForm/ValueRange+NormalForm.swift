extension ValueRange {
    /// The one form of all ranges that hold the same values.
    ///
    /// - Throws: `PredicateError` `.invalidValue` or `.tooLarge`, if a bound is no value to compare with.
    func normalizedTest() throws(PredicateError) -> NormalTest {
        let lower = try Self.normalized(lower)
        let upper = try Self.normalized(upper)
        for bound in [lower, upper] {
            // A value that is not even ordered against itself is ordered against nothing.
            if let bound, bound.value.order(against: bound.value) == nil { return .never }
        }
        guard let lower, let upper else { return .test(.isInRange(ValueRange(lower: lower, upper: upper))) }
        switch lower.value.order(against: upper.value) {
        case .before: return .test(.isInRange(ValueRange(lower: lower, upper: upper)))
        case .same:
            guard lower.isIncluded, upper.isIncluded else { return .never }
            return .test(.equals(Self.first(lower.value, upper.value), .exact))
        case .after, nil: return .never
        }
    }

    /// The values that two ranges share.
    ///
    /// Nil if two bounds cannot be ordered against each other, such as a text and a number: then nothing is in both.
    func intersection(_ other: ValueRange) -> ValueRange? {
        guard let lower = Self.tighter(lower, other.lower, .after),
            let upper = Self.tighter(upper, other.upper, .before)
        else { return nil }
        return ValueRange(lower: lower, upper: upper)
    }

    private static func normalized(_ bound: Bound?) throws(PredicateError) -> Bound? {
        guard let bound else { return nil }
        return Bound(try bound.value.normalized(.exact), isIncluded: bound.isIncluded)
    }

    /// The bound that lets less through, absent if both are; nil if they cannot be compared.
    private static func tighter(_ left: Bound?, _ right: Bound?, _ order: ValueOrder) -> Bound?? {
        guard let left, let right else { return .some(left ?? right) }
        switch left.value.order(against: right.value) {
        case nil: return nil
        case .same:
            return Bound(first(left.value, right.value), isIncluded: left.isIncluded && right.isIncluded)
        case let found: return found == order ? left : right
        }
    }

    private static func first(_ left: FieldValue, _ right: FieldValue) -> FieldValue {
        CanonicalWriter.bytes(of: right).lexicographicallyPrecedes(CanonicalWriter.bytes(of: left)) ? right : left
    }
}
