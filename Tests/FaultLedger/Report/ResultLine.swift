import JSON

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
            ("parked", counts.parked), ("deadLettered", counts.deadLettered), ("destroyed", counts.destroyed),
            ("lost", counts.lost), ("unexpected", counts.unexpected), ("duplicated", counts.duplicated),
            ("duplicatesMaximum", result.duplicatesMaximum), ("pushes", counts.pushes),
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
