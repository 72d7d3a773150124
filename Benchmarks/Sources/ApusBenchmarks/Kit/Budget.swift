/// A limit that a figure has to respect.
enum Budget {
    /// The ratio to the reference is at most this.
    case ratioAtMost(Double)
    /// The ratio to the reference is at least this.
    case ratioAtLeast(Double)
    /// The figure itself is at most this.
    case valueAtMost(Double)

    var text: String {
        switch self {
        case .ratioAtMost(let limit): "≤ \(limit) ×"
        case .ratioAtLeast(let limit): "≥ \(limit) ×"
        case .valueAtMost(let limit): "≤ \(limit)"
        }
    }

    func isMet(value: Double, ratio: Double?) -> Bool {
        switch self {
        case .ratioAtMost(let limit): ratio.map { $0 <= limit } ?? false
        case .ratioAtLeast(let limit): ratio.map { $0 >= limit } ?? false
        case .valueAtMost(let limit): value <= limit
        }
    }
}
