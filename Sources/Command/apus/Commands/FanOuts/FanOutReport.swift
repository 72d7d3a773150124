import Essentials
import JSON
import PushCore

/// Prints large fan-outs, for people or for programs.
enum FanOutReport {
    /// Reads the number of a fan-out.
    static func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text), number > 0 else {
            throw CommandFailure(
                .usage, "\"\(text.prefix(100))\" is not the number of a fan-out; 'apus fanout list' shows the numbers.")
        }
        return number
    }

    /// Says that there is no such fan-out.
    static func missing(_ number: Int64) -> RegistryError {
        RegistryError(
            .notFound, "The registry has no fan-out \(number). 'apus fanout list' shows the numbers.")
    }

    /// One line of a list.
    static func line(_ fanOut: FanOut) -> String {
        return "\(fanOut.number)  \(fanOut.state.rawValue)  \(progress(fanOut))  \(fanOut.devicesPlanned) devices  "
            + "\(fanOut.event.type)  \(fanOut.event.identifier)"
    }

    /// All of a fan-out, a line for each of its properties.
    static func lines(_ fanOut: FanOut) -> [String] {
        var lines = [
            "fan-out    \(fanOut.number)",
            "state      \(fanOut.state.rawValue)",
            "event      \(fanOut.event.identifier)",
            "source     \(fanOut.event.source)",
            "type       \(fanOut.event.type)",
        ]
        if let app = fanOut.event.app { lines.append("app        \(app)") }
        lines.append("devices    \(fanOut.devicesPlanned)\(fanOut.isWhole ? "" : " so far")")
        lines.append("planned    \(fanOut.chunksPlanned) chunks\(fanOut.isWhole ? "" : " so far")")
        lines.append("published  \(fanOut.chunksPublished)")
        lines.append("served     \(fanOut.chunksServed)")
        lines.append("cancelled  \(fanOut.chunksCancelled)")
        lines.append("begun at   \(WallTime.text(milliseconds: fanOut.begunAtMilliseconds))")
        lines.append("changed at \(WallTime.text(milliseconds: fanOut.changedAtMilliseconds))")
        return lines
    }

    private static func progress(_ fanOut: FanOut) -> String {
        "\(fanOut.chunksServed + fanOut.chunksCancelled)/\(fanOut.chunksPlanned)\(fanOut.isWhole ? "" : "+") chunks"
    }

    /// The JSON of a fan-out in one line.
    static func json(_ fanOut: FanOut) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        func text(_ key: String, _ value: String) {
            writer.key(dynamic: key)
            writer.string(value)
        }
        func count(_ key: String, _ value: Int64) {
            writer.key(dynamic: key)
            writer.integer(value)
        }
        count("number", fanOut.number)
        text("state", fanOut.state.rawValue)
        text("eventId", fanOut.event.identifier)
        text("eventSource", fanOut.event.source)
        text("eventType", fanOut.event.type)
        if let app = fanOut.event.app { text("app", app) }
        count("devices", Int64(fanOut.devicesPlanned))
        writer.key("isWhole")
        writer.boolean(fanOut.isWhole)
        count("chunksPlanned", Int64(fanOut.chunksPlanned))
        count("chunksPublished", Int64(fanOut.chunksPublished))
        count("chunksServed", Int64(fanOut.chunksServed))
        count("chunksCancelled", Int64(fanOut.chunksCancelled))
        count("begunAt", fanOut.begunAtMilliseconds)
        count("changedAt", fanOut.changedAtMilliseconds)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
