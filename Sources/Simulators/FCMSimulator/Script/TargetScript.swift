public import PushServiceSimulator
import Synchronization

/// The answers of a simulator of FCM to messages for particular devices, instead of accepting them.
///
/// A script is a file of JSON objects, one a line. Each has `token` or `fid`, the text with which addresses of that
/// kind begin (none for every address), and `answer`, as `TargetAnswer` has it:
///
///     {"token":"dQw4","answer":"unregistered"}
///     {"fid":"c","answer":"quota","times":2,"retry_after":90}
///     {"token":"","answer":"refuse","reason":"HTML_502","times":1}
///
/// The entry with the longest beginning counts. Several lines with the same beginning are steps, one after the other,
/// counted for each address separately; after the last step, messages are accepted. `times` is for how many messages a
/// step lasts, `delay` how much later the answer comes, in milliseconds.
public struct TargetScript: Sendable {
    /// The lines; the order counts among those with the same beginning.
    var lines: [TargetLine] = []

    /// A script that accepts all.
    public static let empty = TargetScript(lines: [])

    private init(lines: [TargetLine]) { self.lines = lines }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var lines: [TargetLine] = []
        try ScriptLines.read(bytes, of: "script") { line throws(SimulatorError) in
            lines.append(try TargetLine(parsing: line))
        }
        self.lines = lines
    }
}

/// The answer to a message.
enum TargetAnswer: Equatable {
    /// It is accepted.
    case accept
    /// It is accepted, and the answer does not come: a repetition is a duplicate.
    case lose
    /// It is neither accepted nor answered.
    case silence
    /// It is refused, with another status than the usual one if there is one.
    case refuse(FCMRefusal, status: Int?, retryAfter: String?)

    private static let states: [String: FCMRefusal] = [
        "unregistered": .unregistered, "other-sender": .senderMismatch, "malformed": .invalidToken,
        "quota": .deviceQuota, "unavailable": .unavailable, "internal": .internalError, "third-party": .thirdParty,
    ]

    /// Finds the answer that a line names.
    static func named(
        _ word: String?, reason: String?, status: Int?, retryAfter: String?
    ) throws(SimulatorError) -> TargetAnswer {
        switch word {
        case "accept": return .accept
        case "lose": return .lose
        case "silent": return .silence
        case "refuse":
            guard let refusal = reason.flatMap(FCMRefusal.init(rawValue:)) else {
                let reasons = FCMRefusal.allCases.map(\.rawValue).joined(separator: ", ")
                throw SimulatorError(.scriptInvalid, "\"answer\":\"refuse\" needs \"reason\", one of \(reasons)")
            }
            return .refuse(refusal, status: status, retryAfter: retryAfter)
        case .some(let state):
            guard let refusal = states[state] else {
                let words = ["accept", "lose", "silent", "refuse"] + states.keys.sorted()
                throw SimulatorError(
                    .scriptInvalid,
                    "\"answer\" cannot be \"\(state)\"; it is one of \(words.joined(separator: ", "))")
            }
            return .refuse(refusal, status: status, retryAfter: retryAfter)
        case nil: throw SimulatorError(.scriptInvalid, "it has no \"answer\"")
        }
    }
}

/// The script of a running simulator, which may change at any time; all loops share it.
final class TargetBook: Sendable {
    private struct Table {
        var lines: [TargetLine]
        var steps: [FCMTarget.Kind: PrefixSteps] = [:]

        init(_ lines: [TargetLine]) {
            self.lines = lines
            for kind in FCMTarget.Kind.allCases where kind.isDevice && lines.contains(where: { $0.kind == kind }) {
                // Lines of the other kind keep their numbers, and can match nothing: no address has a NUL.
                steps[kind] = PrefixSteps(lines.map { ($0.kind == kind ? Array($0.beginning.utf8) : [0], $0.times) })
            }
        }
    }

    private let table: Mutex<Table>

    init(_ script: TargetScript) { table = Mutex(Table(script.lines)) }

    /// Takes the step that is due for a message to a target; nil if it has none, or none left.
    func nextStep(for target: FCMTarget) -> TargetLine? {
        table.withLock { table in
            guard let steps = table.steps[target.kind] else { return nil }
            return steps.next(for: ArraySlice(target.value.utf8)).map { table.lines[$0] }
        }
    }

    /// Puts a whole script in the place of the present one.
    func replace(by script: TargetScript) { table.withLock { $0 = Table(script.lines) } }

    /// Changes what becomes of the addresses that a script names; all addresses begin with their first steps again.
    func change(by script: TargetScript) {
        table.withLock { table in
            let kept = table.lines.filter { line in
                !script.lines.contains { $0.kind == line.kind && $0.beginning == line.beginning }
            }
            table = Table(kept + script.lines)
        }
    }
}
