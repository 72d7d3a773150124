import Glibc
import JSON

/// Lays out results for people: Markdown, so that it can be copied into a document as it is.
enum ResultTable {
    private static let heads = [
        "scenario", "attempted", "confirmed", "delivered", "queued", "dead", "destroyed", "lost", "unexpected",
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
            counts.attempted, counts.confirmed, counts.delivered, counts.queued, counts.deadLettered,
            counts.destroyed,
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

/// Writes a result as one line of JSON.
enum ResultLine {
    /// The line, without its line feed.
    static func text(_ result: ScenarioResult) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("scenario")
        writer.string(result.scenario.name)
        writer.key("seed")
        writer.integer(result.seed)
        let counts = result.counts
        let numbers: [(StaticString, Int)] = [
            ("attempted", counts.attempted), ("confirmed", counts.confirmed), ("delivered", counts.delivered),
            ("queued", counts.queued), ("deadLettered", counts.deadLettered), ("destroyed", counts.destroyed),
            ("lost", counts.lost), ("unexpected", counts.unexpected), ("duplicated", counts.duplicated),
            ("shownTwice", counts.shownTwice), ("duplicatesMaximum", result.duplicatesMaximum),
            ("pushes", counts.pushes), ("untold", counts.untold), ("toldAgain", counts.toldAgain),
        ]
        for (name, number) in numbers {
            writer.key(name)
            writer.integer(number)
        }
        writer.key("recoverySeconds")
        if let seconds = result.recoverySeconds { writer.double(seconds) } else { writer.null() }
        writer.key("seconds")
        writer.double(result.seconds)
        writer.key("valid")
        writer.boolean(result.isValid)
        writer.key("problems")
        writer.beginArray()
        for problem in result.verdict + counts.details { writer.string(problem) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Reports progress on standard error.
enum Progress {
    /// Writes a line.
    static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
