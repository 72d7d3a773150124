import Backoffice
import ChangeEvents
import Essentials
import Messages
import Notifications

/// Prints outcomes as lines.
struct OutcomePrinter {
    private let output: StandardOutput
    private let isJSON: Bool
    private let event: String?
    private var remaining: Int
    private var isHeaderShown = false

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - invocation: where to print, and how.
    ///   - event: the only event to print of; nil for all.
    ///   - limit: how many lines to print.
    init(_ invocation: CommandInvocation, event: String?, limit: Int) {
        output = invocation.output
        isJSON = invocation.isJSON
        self.event = event
        remaining = limit
    }

    /// Whether nothing more is to be printed.
    var isDone: Bool { remaining <= 0 || output.isBroken }

    /// Prints a message, if it is one of those that are asked for.
    mutating func show(_ message: Message) {
        let report: OutcomeReport
        do {
            report = try OutcomeReport(message)
        } catch { return StandardError.line("a message is no outcome of Apus: \(error.description)") }
        if let event, !report.eventIdentifier.hasBytes(of: event) { return }
        guard !isDone else { return }
        if isJSON {
            output.line(message.body)
            remaining -= 1
        } else {
            for line in Self.lines(report, message) where remaining > 0 {
                output.line(line)
                remaining -= 1
            }
        }
        output.flush()
    }

    /// Tells about the connection to the broker.
    mutating func show(_ state: DeliverySourceState) {
        switch state {
        case .consuming:
            StandardError.line("listening; end with Ctrl-C")
            guard !isJSON, !isHeaderShown else { return }
            isHeaderShown = true
            output.line("TIME\tOUTCOME\tAPP\tTYPE\tEVENT\tDEVICE\tREASON")
            output.flush()
        case .interrupted(let reason): StandardError.line("not listening: \(reason); it is tried again")
        case .misconfigured, .refused, .cancelled: break
        }
    }

    /// A line for each push; one for an event that ended before its devices were known.
    private static func lines(_ report: OutcomeReport, _ message: Message) -> [String] {
        func line(_ time: WallTime, device: String, reason: String) -> String {
            [
                WallTime.text(milliseconds: time.milliseconds), report.kind.rawValue, report.app, report.eventType,
                report.eventIdentifier, device, reason.isEmpty ? "-" : reason,
            ].joined(separator: "\t")
        }
        guard report.pushes.isEmpty else {
            return report.pushes.map { line($0.ended, device: name($0), reason: $0.reason) }
        }
        return [line(message.outcomeTime, device: "-", reason: report.reason)]
    }

    /// The name of a device; what looks like a token, 32 bytes in hexadecimal digits, is shortened.
    private static func name(_ push: OutcomeReport.Push) -> String {
        guard let bytes = HexadecimalDigits.bytes(push.deviceID), bytes.count >= 32 else { return push.deviceID }
        return "\(push.deviceID.prefix(8))…"
    }
}
