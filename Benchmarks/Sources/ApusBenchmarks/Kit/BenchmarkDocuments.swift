import Foundation

/// The documents that show figures: a short table in `README.md`, all figures in `Benchmarks/README.md`.
///
/// Each has two marks, and the text between them is written from the figures of a whole run.
enum BenchmarkDocuments {
    /// The mark before the text that is written.
    static let begin = "<!-- figures: written by make bench -->"
    /// The mark after the text that is written.
    static let end = "<!-- end of the figures -->"

    /// The paths of the documents, each with what makes its text.
    static let all: [(path: String, make: @Sendable ([BenchmarkResult]) throws(BenchmarkFailure) -> String)] = [
        ("README.md", summary), ("Benchmarks/README.md", everything),
    ]

    /// Writes the figures into all documents.
    ///
    /// - Parameters:
    ///   - results: the figures of a whole run.
    ///   - folder: the root of the repository.
    /// - Throws: `BenchmarkFailure` if a document lacks its marks or a run its figures, and an error of Foundation.
    static func write(_ results: [BenchmarkResult], in folder: String) throws {
        for (path, make) in all {
            let file = URL(fileURLWithPath: folder).appending(path: path)
            let text = try String(contentsOf: file, encoding: .utf8)
            try replacing(try make(results), in: text).write(to: file, atomically: true, encoding: .utf8)
        }
    }

    /// The text of a document with other figures between its marks.
    static func replacing(_ figures: String, in text: String) throws(BenchmarkFailure) -> String {
        guard let first = text.range(of: begin), let last = text.range(of: end), first.upperBound <= last.lowerBound
        else { throw BenchmarkFailure(description: "a document lacks the marks \(begin) and \(end)") }
        return "\(text[..<first.upperBound])\n\(figures)\(text[last.lowerBound...])"
    }

    // MARK: The short table

    /// A row of the short table: a figure beside its reference.
    private struct Row {
        var text: String
        var figure: String
        var unit = ""
        /// What the reference is; nil for none.
        var reference: String?
    }

    private static let rows = [
        Row(text: "processor time a push", figure: "cpu_per_push_beside_aioapns", unit: " µs", reference: "aioapns"),
        Row(
            text: "pushes a second of the client, beside aioapns", figure: "pushes_per_second_beside_aioapns",
            reference: "aioapns"),
        Row(
            text: "pushes a second of the client, beside h2load",
            figure: "pushes_per_second_client_simulator_1_connection",
            reference: "h2load"),
        Row(
            text: "events a second, from the queue to a push each", figure: "events_per_second_worker_one_to_one",
            reference: "a consumer in C that pushes nothing"),
        Row(
            text: "pushes a second, one event to a million devices", figure: "pushes_per_second_large_fan_out",
            reference: "an event for each device"),
        Row(
            text: "memory of a worker, a million devices, a thousand pushes in flight",
            figure: "resident_memory_1000000_devices_1000_in_flight", unit: " MiB"),
    ]

    /// The short table: Apus beside what it is compared with.
    static func summary(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        let newest = try newest(results)
        var text = "| \(newest.date), \(newest.machine) | Apus | compared with |\n|---|---|---|\n"
        for row in rows {
            let result = try result(row.figure, in: results)
            text += "| \(row.text) | \(number(result.value))\(row.unit) |"
            if let name = row.reference, let reference = result.reference {
                text += " \(number(reference))\(row.unit), \(name)"
            }
            text += " |\n"
        }
        return text
    }

    // MARK: All figures

    /// A table for each scenario.
    static func everything(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        let newest = try newest(results)
        var text = "\(newest.date), commit \(newest.commit), \(newest.machine).\n"
        for scenario in BenchmarkScenario.allCases {
            let figures = results.filter { $0.scenario == scenario.rawValue }
            text += "\n### `\(scenario.rawValue)`\n\n\(scenario.summary)\n"
            guard !figures.isEmpty else {
                text += "\nNot measured yet.\n"
                continue
            }
            text += "\n| figure | value | reference | ratio | budget | met |\n|---|---|---|---|---|---|\n"
            for result in figures { text += line(result) }
        }
        return text
    }

    private static func line(_ result: BenchmarkResult) -> String {
        let cells = [
            "`\(result.name)`", number(result.value) + (result.unit.isEmpty ? "" : " \(result.unit)"),
            result.reference.map(number) ?? "",
            result.ratio.map { String(format: "%.2f ×", $0) } ?? "", result.budget ?? "",
            result.met.map { $0 ? "yes" : "no" } ?? "",
        ]
        return "| " + cells.joined(separator: " | ") + " |\n"
    }

    // MARK: Parts

    /// A figure of the newest run, which says when and where it was.
    private static func newest(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> BenchmarkResult {
        guard let newest = results.max(by: { $0.date < $1.date }) else {
            throw BenchmarkFailure(description: "there are no figures")
        }
        return newest
    }

    private static func result(
        _ name: String, in results: [BenchmarkResult]
    ) throws(BenchmarkFailure) -> BenchmarkResult {
        guard let result = results.first(where: { $0.name == name }) else {
            throw BenchmarkFailure(description: "there is no figure \(name)")
        }
        return result
    }

    /// A number for people: three or four digits that count, and thousands in groups.
    private static func number(_ value: Double) -> String {
        guard value >= 1_000 else { return String(format: value >= 100 ? "%.1f" : "%.2f", value) }
        var digits = String(format: "%.0f", value)
        var groups: [String] = []
        while !digits.isEmpty {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return groups.joined(separator: " ")
    }
}
