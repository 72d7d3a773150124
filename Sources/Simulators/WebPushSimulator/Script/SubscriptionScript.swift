public import PushServiceSimulator
import Synchronization

/// The answers of a simulator to pushes to particular subscriptions, instead of accepting them.
///
/// A script is a file of JSON objects, one a line. Each has `subscription`, the text with which the names of the
/// subscriptions begin (none for every one), and `answer`, or `online`:
///
///     {"subscription":"fcm-0000001","answer":"gone"}
///     {"subscription":"fcm-000001","answer":"fresh"}
///     {"subscription":"wns-","answer":"throttled","times":2,"retry_after":900}
///     {"subscription":"mozilla-","answer":"unavailable","times":1,"retry_after_date":120}
///     {"subscription":"mozilla-0000002","answer":"limit","bytes":2744}
///     {"subscription":"apple-","answer":"refuse","reason":"VAPID_SUBJECT","status":403}
///     {"subscription":"plain-00","online":false}
///
/// | `answer` | a push is |
/// |---|---|
/// | `accept`, `lose`, `silent` | accepted; accepted and not answered; neither |
/// | `gone`, `stale`, `other-key`, `unauthorized` | refused, as the service does it |
/// | `fresh` | refused as gone, once unless `times` says more, and then accepted |
/// | `limit` | accepted if its body has at most `bytes` (2744) |
/// | `throttled`, `unavailable`, `internal`, `redirect` | refused |
/// | `refuse` | refused for a `reason`, a name of `WebPushRefusal` |
///
/// A refusal may have another `status`, and `retry_after` (seconds, or any text) or `retry_after_date` (a date so many
/// seconds ahead). The entry with the longest beginning counts. Several lines with the same beginning are steps, one
/// after the other, counted for each subscription; after the last step, pushes are accepted. `times` is for how many
/// pushes a step lasts, `delay` how much later the answer comes, in milliseconds.
public struct SubscriptionScript: Sendable {
    /// The lines; the order counts among those with the same beginning.
    var lines: [SubscriptionLine] = []

    /// A script that accepts all.
    public static let empty = SubscriptionScript(lines: [])

    private init(lines: [SubscriptionLine]) { self.lines = lines }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var lines: [SubscriptionLine] = []
        try ScriptLines.read(bytes, of: "script") { line throws(SimulatorError) in
            lines.append(try SubscriptionLine(parsing: line))
        }
        self.lines = lines
    }

    /// The beginnings of names whose browsers are said to be online, or not, in order.
    var presence: [(beginning: String, isOnline: Bool)] {
        lines.compactMap { line in
            guard case .online(let isOnline) = line.command else { return nil }
            return (line.beginning, isOnline)
        }
    }
}

/// The answers of a running simulator, which may change at any time; all origins share them.
final class AnswerBook: Sendable {
    /// The step that is due for a push.
    struct Due {
        var step: PushStep
        var delayMilliseconds: Int64
    }

    private struct Table {
        var lines: [SubscriptionLine]
        let steps: PrefixSteps

        init(_ lines: [SubscriptionLine]) {
            self.lines = lines.filter {
                if case .answer = $0.command { true } else { false }
            }
            steps = PrefixSteps(self.lines.map { (Array($0.beginning.utf8), $0.times) })
        }
    }

    private let table: Mutex<Table>

    init(_ script: SubscriptionScript) { table = Mutex(Table(script.lines)) }

    /// Takes the step that is due for a push to a subscription; nil if it has none, or none left.
    func nextStep(for id: String) -> Due? {
        table.withLock { table in
            guard !table.steps.isEmpty, let index = table.steps.next(for: ArraySlice(id.utf8)),
                case .answer(let step) = table.lines[index].command
            else { return nil }
            return Due(step: step, delayMilliseconds: table.lines[index].delayMilliseconds)
        }
    }

    /// Puts a whole script in the place of the present one.
    func replace(by script: SubscriptionScript) { table.withLock { $0 = Table(script.lines) } }

    /// Changes what becomes of pushes to the subscriptions that a script names; all begin with their first steps again.
    func change(by script: SubscriptionScript) {
        table.withLock { table in
            let added = Table(script.lines).lines
            guard !added.isEmpty else { return }
            let kept = table.lines.filter { line in !added.contains { $0.beginning == line.beginning } }
            table = Table(kept + added)
        }
    }
}
