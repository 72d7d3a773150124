/// Values between two bounds, each of which may be absent: the test of `<`, `<=`, `>`, `>=` and `BETWEEN`.
///
/// Bounds are numbers, dates, booleans or text; a value that cannot be ordered against a bound is not in the range.
public struct ValueRange: Hashable, Sendable {
    /// One end of a range.
    public struct Bound: Hashable, Sendable {
        /// The value at the end.
        public var value: FieldValue
        /// Whether the value itself is in the range.
        public var isIncluded: Bool

        /// Creates a bound.
        public init(_ value: FieldValue, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }

    /// The lower end; nil if there is none.
    public var lower: Bound?
    /// The upper end; nil if there is none.
    public var upper: Bound?

    /// Creates a range; at least one bound must be given for it to contain only values that can be ordered.
    public init(lower: Bound?, upper: Bound?) {
        precondition(lower != nil || upper != nil, "a range has a bound")
        self.lower = lower
        self.upper = upper
    }

    /// Whether a value is within the bounds.
    public func contains(_ value: FieldValue) -> Bool {
        if let lower {
            switch value.order(against: lower.value) {
            case .after: break
            case .same: if !lower.isIncluded { return false }
            case .before, nil: return false
            }
        }
        if let upper {
            switch value.order(against: upper.value) {
            case .before: break
            case .same: if !upper.isIncluded { return false }
            case .after, nil: return false
            }
        }
        return true
    }
}
