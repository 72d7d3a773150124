public import StructuredLogging

/// Keeps what a client logs, as text.
public final class LogCollector: Sendable {
    /// The lines so far.
    public let lines = Watched<[String]>([])

    /// Creates a collector.
    public init() {}

    /// A logger whose lines are kept.
    public var logger: Logger {
        Logger(minimum: .debug) { [lines] level, event, fields in
            let text = fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            lines.update { $0.append("\(level) \(event) \(text)") }
        }
    }

    /// Waits for a line that holds all the words.
    public func wait(for words: String...) async -> Bool {
        await lines.wait { lines in lines.contains { line in words.allSatisfy { line.contains($0) } } }
    }
}
