import Essentials
import Notifications
import PushCore

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
        guard event == nil || report.eventIdentifier == event, !isDone else { return }
        if isJSON {
            output.line(message.body)
            remaining -= 1
        } else {
            for push in report.pushes where remaining > 0 {
                output.line(Self.line(push, of: report))
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
        case .misconfigured, .cancelled: break
        }
    }

    private static func line(_ push: OutcomeReport.Push, of report: OutcomeReport) -> String {
        [
            WallTime.text(milliseconds: push.ended.milliseconds), report.kind.rawValue, report.app, report.eventType,
            report.eventIdentifier, name(push), push.reason.isEmpty ? "-" : push.reason,
        ].joined(separator: "\t")
    }

    /// The name of a device; of a token that is not registered, its beginning.
    private static func name(_ push: OutcomeReport.Push) -> String {
        guard let bytes = HexadecimalDigits.bytes(push.deviceID), bytes.count >= 16 else { return push.deviceID }
        return "\(push.deviceID.prefix(8))… (token)"
    }
}
