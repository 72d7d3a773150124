import Glibc

/// Where values lie on an axis, and which of them are marked.
struct CurveAxis {
    private let isLogarithmic: Bool
    private let lower: Double
    private let upper: Double
    /// The values with a mark.
    let marks: [Double]

    /// An axis with room for all of the values; a logarithmic one has none for values of 0 and less.
    init(_ values: [Double], isLogarithmic: Bool) {
        self.isLogarithmic = isLogarithmic
        let values = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
        let least = values.min() ?? 1
        let most = values.max() ?? 10
        if isLogarithmic {
            let steps = Self.logarithmicSteps(least, most)
            marks = steps
            (lower, upper) = (steps.first ?? least, steps.last ?? most)
        } else {
            let step = Self.linearStep(most - min(0, least))
            let first = (min(0, least) / step).rounded(.down)
            let last = max(first + 1, (most / step).rounded(.up))
            marks = Array(stride(from: first * step, through: (last + 0.5) * step, by: step)).filter {
                $0 <= last * step
            }
            (lower, upper) = (first * step, last * step)
        }
    }

    /// Where a value lies: 0 at the beginning, 1 at the end; nil for one that the axis cannot have.
    func place(_ value: Double) -> Double? {
        guard value.isFinite, !isLogarithmic || value > 0, upper > lower else { return nil }
        return isLogarithmic ? log(value / lower) / log(upper / lower) : (value - lower) / (upper - lower)
    }

    /// Powers of ten around the values; where these are few, twice and five times them as well.
    private static func logarithmicSteps(_ least: Double, _ most: Double) -> [Double] {
        let first = Int(log10(least).rounded(.down))
        let last = max(first + 1, Int(log10(most * 0.999_999).rounded(.up)))
        let decades = (first...last).map { pow(10, Double($0)) }
        guard last - first <= 2 else { return decades }
        let fine = decades.dropLast().flatMap { [$0, 2 * $0, 5 * $0] } + decades.suffix(1)
        let lower = fine.last { $0 <= least * 1.000_001 } ?? least
        let upper = fine.first { $0 >= most * 0.999_999 && $0 > lower } ?? most
        return fine.filter { $0 >= lower && $0 <= upper }
    }

    /// A step of 1, 2 or 5 times a power of ten, of which four to ten fill a span.
    private static func linearStep(_ span: Double) -> Double {
        guard span > 0, span.isFinite else { return 1 }
        let power = pow(10, log10(span / 4).rounded(.down))
        return [5, 2, 1].map { $0 * power }.first { $0 * 4 <= span } ?? power
    }
}
