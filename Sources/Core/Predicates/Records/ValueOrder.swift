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
