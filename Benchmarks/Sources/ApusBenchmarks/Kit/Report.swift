import Foundation

/// Gathers figures, shows each as it comes, and writes them at the end.
final class Report {
    private(set) var results: [BenchmarkResult] = []

    func add(_ name: String, _ value: Double, _ unit: String, reference: Double? = nil, budget: Budget? = nil) {
        // With small counts all may be over before the first look, which leaves nothing to compare with.
        let ratio = reference.flatMap { $0 > 0 ? value / $0 : nil }
        // Small counts measure nothing.
        let budget = Scale.isSmall ? nil : budget
        let result = BenchmarkResult(
            name: name, value: value, unit: unit, reference: reference, ratio: ratio, budget: budget?.text,
            met: budget?.isMet(value: value, ratio: ratio))
        results.append(result)
        Self.show(Self.line(result))
    }

    /// Prints a line at once, also to a pipe.
    static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    static let header =
        "figure".padded(44) + "value".padded(13, right: true) + " " + "unit".padded(12)
        + "reference".padded(12, right: true)
        + "ratio".padded(9, right: true) + "  budget"

    private static func line(_ result: BenchmarkResult) -> String {
        let verdict = result.met.map { $0 ? "met" : "MISSED" } ?? ""
        return result.name.padded(44) + number(result.value).padded(13, right: true) + " " + result.unit.padded(12)
            + (result.reference.map(number) ?? "").padded(12, right: true)
            + (result.ratio.map { String(format: "%.2f", $0) } ?? "").padded(9, right: true)
            + "  \(result.budget ?? "") \(verdict)"
    }

    private static func number(_ value: Double) -> String {
        value >= 1_000 ? String(format: "%.0f", value) : String(format: "%.3f", value)
    }

    /// Reads the figures of a file.
    static func read(_ path: String) throws -> [BenchmarkResult] {
        try JSONDecoder().decode([BenchmarkResult].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Writes figures to a file, in index of all others or of those with the same names.
    ///
    /// In the second case figures of scenarios that did not run stay, each with the commit that it was measured at.
    static func write(_ results: [BenchmarkResult], to path: String, replacingAll: Bool) throws {
        var figures = try !replacingAll && FileManager.default.fileExists(atPath: path) ? read(path) : []
        for result in results {
            if let index = figures.firstIndex(where: { $0.name == result.name }) {
                figures[index] = result
            } else {
                figures.append(result)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(figures).write(to: URL(fileURLWithPath: path))
    }
}

extension String {
    fileprivate func padded(_ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return right ? space + self : self + space
    }
}
