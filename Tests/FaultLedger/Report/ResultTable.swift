/// Lays out results for people: Markdown, so that it can be copied into a document as it is.
enum ResultTable {
    private static let heads = [
        "scenario", "attempted", "confirmed", "delivered", "parked", "dead", "destroyed", "lost", "unexpected",
        "duplicated", "bound", "recovery", "",
    ]

    /// The table of results, with a line for each.
    static func text(_ results: [ScenarioResult]) -> String {
        let rows = [heads] + results.map(cells)
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            "| " + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return ([line(heads), rule] + rows.dropFirst().map(line)).joined(separator: "\n")
    }

    private static func cells(_ result: ScenarioResult) -> [String] {
        let counts = result.counts
        let numbers = [
            counts.attempted, counts.confirmed, counts.delivered, counts.parked, counts.deadLettered, counts.destroyed,
            counts.lost, counts.unexpected, counts.duplicated, result.duplicatesMaximum,
        ]
        return [result.scenario.name] + numbers.map(String.init)
            + [result.recoverySeconds.map { "\(tenths($0)) s" } ?? "never", result.isValid ? "valid" : "INVALID"]
    }

    private static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
