import Backoffice
import ChangeEvents
import Essentials
import EventLoop
import Messages
import RegistryCore

/// Writes dead letters, for people and for programs.
enum DeadLetterReport {
    /// The columns of a list.
    static let header = ["ID", "AGE", "ATTEMPTS", "REASON", "APP", "TYPE", "SOURCE", "EVENT"]

    /// One letter in the columns of a list.
    static func columns(_ letter: DeadLetterSummary) -> [String] {
        [
            letter.shortIdentifier, age(since: letter.deadLetteredMilliseconds),
            letter.attempts.map { String($0) } ?? "-", letter.reason, letter.app ?? "-", letter.eventType ?? "-",
            letter.eventSource ?? "-", letter.eventIdentifier ?? "-",
        ]
    }

    /// How long ago a moment was, in the unit that suits it.
    static func age(since milliseconds: Int64) -> String {
        let seconds = max(0, WallClock.nowMilliseconds() - milliseconds) / 1_000
        return switch seconds {
        case ..<120: "\(seconds)s"
        case ..<7_200: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3_600)h"
        default: "\(seconds / 86_400)d"
        }
    }

    /// One letter, whole, for people.
    static func lines(_ letter: DeadLetter) -> [String] {
        let (summary, message) = (letter.summary, letter.message)
        var lines = [
            "id: \(summary.identifier)", "reason: \(summary.reason)",
            "since: \(WallTime.text(milliseconds: summary.deadLetteredMilliseconds))",
        ]
        let optional = [
            ("detail", summary.detail), ("app", summary.app), ("attempts", summary.attempts.map { String($0) }),
            ("event source", summary.eventSource), ("event id", summary.eventIdentifier),
            ("event type", summary.eventType),
        ]
        for (name, value) in optional { if let value { lines.append("\(name): \(value)") } }
        lines.append("properties:")
        for (name, value) in message.properties.texts { lines.append("    \(name): \(value)") }
        lines.append("headers:")
        for header in message.headers {
            lines.append("    \(header.name): \(String(decoding: header.value.json, as: UTF8.self))")
        }
        lines.append("body (\(summary.bodySizeBytes) bytes):")
        // Indented, so that nothing in it looks like a line of ours.
        lines += String(decoding: message.body, as: UTF8.self).split(separator: "\n").map { "    \($0)" }
        return lines
    }

    /// One letter for programs, whole if its message is given.
    static func report(_ letter: DeadLetterSummary, _ message: Message? = nil) -> Report {
        let summary: Report = [
            "id": letter.identifier, "reason": letter.reason, "detail": letter.detail, "app": letter.app,
            "eventSource": letter.eventSource, "eventId": letter.eventIdentifier, "eventType": letter.eventType,
            "attempts": letter.attempts, "firstSeenAt": letter.firstSeenMilliseconds,
            "deadLetteredAt": letter.deadLetteredMilliseconds, "bodySizeBytes": letter.bodySizeBytes,
        ]
        guard let message else { return summary }
        // A body that is not text has to survive too.
        let text = String(validating: message.body, as: UTF8.self)
        return summary + [
            "properties": Report(message.properties.texts.map { .init($0.name, $0.value) }),
            "headers": Report.Raw(HeaderValue.table(message.headers).json), "body": text,
            "bodyHexadecimal": text == nil ? HexadecimalDigits.text(message.body) : nil,
        ]
    }

    /// Reads complete letters, one after the other.
    ///
    /// - Parameters:
    ///   - selection: which letters.
    ///   - registry: where they are.
    ///   - body: takes a letter, and says whether to go on.
    /// - Throws: `RegistryError`, `.notFound` if an identifier names no letter or several.
    static func forEachLetter(
        _ selection: DeadLetterSelection, in registry: any DeadLetterRegistry, _ body: (DeadLetter) -> Bool
    ) throws {
        try selection.forEachPage(in: registry) { page in
            for batch in DeadLetterSummary.batches(page) {
                let messages = try registry.deadLetterMessages(batch.map(\.number))
                for summary in batch {
                    // One that is gone meanwhile was replayed or deleted.
                    guard let message = messages[summary.number] else { continue }
                    guard body(DeadLetter(summary: summary, message: message)) else { return false }
                }
            }
            return true
        }
    }
}
