import Foundation

/// The documents that show figures: a short table in `README.md`, all figures in `Benchmarks/figures.md`, and what a
/// load takes in `deploy/capacity.md`.
///
/// Each has two marks, and the text between them is written from the figures of a whole run.
enum BenchmarkDocuments {
    /// The mark before the text that is written.
    static let begin = "<!-- figures: written by make bench -->"
    /// The mark after the text that is written.
    static let end = "<!-- end of the figures -->"

    /// The paths of the documents, each with what makes its text.
    static let all: [(path: String, make: @Sendable ([BenchmarkResult]) throws(BenchmarkFailure) -> String)] = [
        ("README.md", summary), ("Benchmarks/figures.md", everything),
        ("Benchmarks/peers/README.md", peers), ("deploy/capacity.md", capacity),
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
        /// The name of the reference; nil for none.
        var reference: String?
    }

    private static let rows = [
        Row(
            text: "events a second, from the queue to a push each, on one processor",
            figure: PeersReport.name("pushes_per_second", "one_to_one_sqlite", "beside_java"),
            reference: "[a worker in Java](Benchmarks/peers)"),
        Row(
            text: "processor time of such a push",
            figure: PeersReport.name("cpu_per_push", "one_to_one_sqlite", "beside_java"), unit: " µs",
            reference: "a worker in Java"),
        Row(
            text: "pushes a second of the client, beside h2load",
            figure: "pushes_per_second_client_simulator_1_connection",
            reference: "h2load"),
        Row(
            text: "processor time of a push to FCM", figure: "cpu_per_push_services_fcm_1_connection", unit: " µs",
            reference: "a push to APNs"),
        Row(
            text: "pushes a second to FCM, on one processor",
            figure: LibrariesReport.name("pushes_per_second", beside: .firebaseAdmin),
            reference: "[firebase-admin](Benchmarks/peers)"),
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
        let newest = try newest(results.filter { result in rows.contains { $0.figure == result.name } })
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

    // MARK: The workers of others

    /// The tables of the scenarios `peers` and `libraries`.
    static func peers(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        let scenarios: [String?] = [BenchmarkScenario.peers.rawValue, BenchmarkScenario.libraries.rawValue]
        return try origin(of: results.filter { scenarios.contains($0.scenario) })
            + "\n\(PeersTable(of: results).text)\n\(LibrariesReport.table(of: results))"
    }

    // MARK: All figures

    /// A table for each scenario.
    static func everything(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        var text = budgets(results)
        for scenario in BenchmarkScenario.allCases where scenario.keepsResults {
            let figures = results.filter { $0.scenario == scenario.rawValue }
            text += "\n### `\(scenario.rawValue)`\n\n\(scenario.summary)\n"
            guard !figures.isEmpty else {
                text += "\nNot measured yet.\n"
                continue
            }
            text +=
                "\n" + (try origin(of: figures))
                + "\n| figure | value | reference | ratio | budget | met |\n|---|---|---|---|---|---|\n"
            for result in figures { text += line(result) }
        }
        return text
    }

    /// All figures that have a budget; missed ones are bold.
    private static func budgets(_ results: [BenchmarkResult]) -> String {
        let figures = results.filter { $0.budget != nil }
        let missed = figures.count { $0.met == false }
        var text = "\n### Budgets\n\n\(figures.count - missed) of \(figures.count) budgets are met.\n"
        text += "\n| figure | value | of the reference | budget |\n|---|--:|--:|--:|\n"
        for result in figures {
            let mark = result.met == false ? "**" : ""
            let cells = [
                "\(mark)`\(result.name)`\(mark)", "\(mark)\(number(result.value)) \(result.unit)\(mark)",
                result.ratio.map { String(format: "%.2f ×", $0) } ?? "", result.budget ?? "",
            ]
            text += "| " + cells.joined(separator: " | ") + " |\n"
        }
        return text
    }

    private static func line(_ result: BenchmarkResult) -> String {
        let cells = [
            "`\(result.name)`", number(result.value) + (result.unit.isEmpty ? "" : " \(result.unit)"),
            result.reference.map { number($0) } ?? "",
            result.ratio.map { String(format: "%.2f ×", $0) } ?? "", result.budget ?? "",
            result.met.map { $0 ? "yes" : "no" } ?? "",
        ]
        return "| " + cells.joined(separator: " | ") + " |\n"
    }

    // MARK: Parts

    /// When and where figures were measured: the newest of them, since a run of one scenario renews its figures alone.
    static func newest(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> BenchmarkResult {
        guard let newest = results.max(by: { $0.date < $1.date }) else {
            throw BenchmarkFailure(description: "there are no figures")
        }
        return newest
    }

    /// A line that says when, of which commit and where the newest of some figures was measured.
    private static func origin(of results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        let newest = try newest(results)
        return "\(newest.date), commit \(newest.commit), \(newest.machine).\n"
    }

    /// The figure of a name.
    static func result(
        _ name: String, in results: [BenchmarkResult]
    ) throws(BenchmarkFailure) -> BenchmarkResult {
        guard let result = results.first(where: { $0.name == name }) else {
            throw BenchmarkFailure(description: "there is no figure \(name)")
        }
        return result
    }

    /// A number for people: three or four digits that count, and thousands in groups.
    static func number(_ value: Double, digits: Int? = nil) -> String {
        guard value >= 1_000 else { return String(format: "%.\(digits ?? (value >= 100 ? 1 : 2))f", value) }
        var digits = String(format: "%.0f", value)
        var groups: [String] = []
        while !digits.isEmpty {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return groups.joined(separator: " ")
    }
}
