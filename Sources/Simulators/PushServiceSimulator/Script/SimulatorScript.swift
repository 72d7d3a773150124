public import JSON
import Synchronization

/// One step of a script for the addresses with the same beginning.
public struct ScriptStep<Answer: Sendable>: Sendable {
    /// The bytes with which the addresses begin.
    public let beginning: [UInt8]
    /// The answer to the messages.
    public let answer: Answer
    /// For how many messages the step lasts; nil means for all that follow.
    public let times: Int?
    /// How much later than usual the answer comes.
    public let delayMilliseconds: Int64

    /// Describes a step.
    public init(_ beginning: String, _ answer: Answer, times: Int?, delayMilliseconds: Int64 = 0) {
        self.beginning = Array(beginning.utf8)
        self.answer = answer
        self.times = times
        self.delayMilliseconds = delayMilliseconds
    }
}

/// The answers of a simulator to messages for particular addresses, instead of accepting them.
///
/// A script is a file of JSON objects, one a line, each with the text with which addresses begin (none for every one)
/// and an answer. The entry with the longest beginning counts. Several lines with the same beginning are steps, one
/// after the other, counted for each address separately; after the last step, messages are accepted.
public struct SimulatorScript<Answer: Sendable>: Sendable {
    /// The steps; the order counts among those with the same beginning.
    let steps: [ScriptStep<Answer>]

    /// A script that accepts all.
    public static var empty: SimulatorScript { SimulatorScript(steps: []) }

    init(steps: [ScriptStep<Answer>]) { self.steps = steps }

    /// Reads a script.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - step: reads a line; nil if it is about something else.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(
        parsing bytes: [UInt8], _ step: (JSONObject) throws(SimulatorError) -> ScriptStep<Answer>?
    ) throws(SimulatorError) {
        var steps: [ScriptStep<Answer>] = []
        try ScriptLines.read(bytes, of: "script") { line throws(SimulatorError) in
            if let step = try step(try JSONObject.line(line)) { steps.append(step) }
        }
        self.steps = steps
    }

    /// Whether no message is answered otherwise than without a script.
    public var isEmpty: Bool { steps.isEmpty }
}

/// The script of a running simulator, which may change at any time; all loops share it.
public final class ScriptBook<Answer: Sendable>: Sendable {
    private struct Table {
        let steps: [ScriptStep<Answer>]
        let due: PrefixSteps

        init(_ steps: [ScriptStep<Answer>]) {
            self.steps = steps
            due = PrefixSteps(steps.map { ($0.beginning, $0.times) })
        }
    }

    private let table: Mutex<Table>

    /// Begins with a script.
    public init(_ script: SimulatorScript<Answer>) { table = Mutex(Table(script.steps)) }

    /// Takes the step that is due for a message to an address; nil if it has none, or none left.
    public func nextStep(for address: String) -> ScriptStep<Answer>? {
        table.withLock { table in
            guard !table.due.isEmpty else { return nil }
            return table.due.next(for: ArraySlice(address.utf8)).map { table.steps[$0] }
        }
    }

    /// Puts a whole script in the place of the present one.
    public func replace(by script: SimulatorScript<Answer>) { table.withLock { $0 = Table(script.steps) } }

    /// Changes what becomes of the addresses that a script names; all begin with their first steps again.
    public func change(by script: SimulatorScript<Answer>) {
        let changed = Set(script.steps.map(\.beginning))
        table.withLock { table in
            table = Table(table.steps.filter { !changed.contains($0.beginning) } + script.steps)
        }
    }
}
