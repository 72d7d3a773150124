import Notifications
import PushTestKit

/// What a server has said in its log: the event of each line, and its fields.
final class LogLines: Sendable {
    private let lines = Watched<[String]>([])

    /// Keeps every line.
    var logger: Logger {
        Logger(minimum: .debug) { [lines] _, event, fields in
            lines.update { $0.append("\(event) \(fields.map { "\($0)" }.joined(separator: " "))") }
        }
    }

    /// How many lines there are of an event.
    func count(_ event: String) -> Int { lines.read { $0.count { $0.hasPrefix(event) } } }

    /// Waits until an event was logged so many times.
    func wait(for event: String, count: Int) async -> Bool {
        await lines.wait { $0.count { $0.hasPrefix(event) } >= count }
    }
}
