import Notifications
import PushTestKit

/// Keeps what a client logs, as text.
final class LogCollector: Sendable {
    let lines = Watched<[String]>([])

    var logger: Logger {
        Logger(minimum: .debug) { [lines] level, event, fields in
            let text = fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            lines.update { $0.append("\(level) \(event) \(text)") }
        }
    }

    /// Waits for a line that holds all the words.
    func wait(for words: String...) async -> Bool {
        await lines.wait { lines in lines.contains { line in words.allSatisfy { line.contains($0) } } }
    }
}
