/// One figure, beside its reference and its budget.
struct BenchmarkResult: Codable {
    /// The name of the figure: `<unit>_<scenario>`.
    var name: String
    /// The scenario that measured it; the supervisor of the scenarios enters it.
    var scenario: String?
    /// The figure.
    var value: Double
    /// Its unit.
    var unit: String
    /// The reference's figure from the same run; nil if there is none.
    var reference: Double?
    /// `value / reference`.
    var ratio: Double?
    /// The budget of the ratio (or, without a reference, of the value) in words, for example `≤ 1.2 ×`.
    var budget: String?
    /// Whether it does.
    var met: Bool?
    /// The machine: processor, cores, kernel.
    var machine = Machine.description
    /// The commit that was measured; the supervisor of the scenarios enters it.
    var commit = ""
    /// The day, UTC.
    var date = Machine.date
}

/// A limit that a figure has to respect.
enum Budget {
    /// The ratio to the reference is at most this.
    case ratioAtMost(Double)
    /// The ratio to the reference is at least this.
    case ratioAtLeast(Double)
    /// The figure itself is at most this.
    case valueAtMost(Double)
    /// The figure itself is at least this.
    case valueAtLeast(Double)

    var text: String {
        switch self {
        case .ratioAtMost(let limit): "≤ \(limit) ×"
        case .ratioAtLeast(let limit): "≥ \(limit) ×"
        case .valueAtMost(let limit): "≤ \(limit)"
        case .valueAtLeast(let limit): "≥ \(limit)"
        }
    }

    func isMet(value: Double, ratio: Double?) -> Bool {
        switch self {
        case .ratioAtMost(let limit): ratio.map { $0 <= limit } ?? false
        case .ratioAtLeast(let limit): ratio.map { $0 >= limit } ?? false
        case .valueAtMost(let limit): value <= limit
        case .valueAtLeast(let limit): value >= limit
        }
    }
}

/// The figure in the middle, which one slow run does not move.
enum Median {
    static func of(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}

extension Duration {
    /// The whole duration in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
