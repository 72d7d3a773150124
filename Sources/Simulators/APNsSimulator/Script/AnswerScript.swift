import Notifications
public import PushServiceSimulator

/// The simulator's answers to particular device tokens, instead of accepting their pushes.
///
/// A script is a file of JSON objects, one a line. Each has `token`, the hexadecimal digits with which device tokens
/// begin (all of them for a single token, none for every token), and `answer`. The entry with the most digits counts.
/// Several lines of the same digits are steps, one after the other, counted for each device token separately; after the
/// last step, pushes are accepted.
public final class AnswerScript: Sendable {
    private let steps: [TokenStep]
    private let table: PrefixSteps

    /// Every answer that the script can give.
    let answers: [ServiceAnswer]

    /// A script that accepts all.
    public static let empty = AnswerScript([])

    private init(_ lines: [ScriptLine]) {
        steps = lines.map(\.step)
        table = PrefixSteps(lines.map { ($0.tokenDigits, $0.step.times) })
        answers = Array(Set(steps.compactMap(\.answer)))
    }

    /// Reads a script.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - nowMilliseconds: since when a token is dead whose line does not say it, in milliseconds since 1970.
    /// - Throws: `SimulatorError` with the number of the first line that is wrong.
    public convenience init(parsing bytes: [UInt8], nowMilliseconds: Int64) throws(SimulatorError) {
        var lines: [ScriptLine] = []
        try ScriptLines.read(bytes, of: "script") { line throws(SimulatorError) in
            lines.append(try ScriptLine(parsing: line, nowMilliseconds: nowMilliseconds))
        }
        self.init(lines)
    }

    /// Takes the step that is due for a request to a device token.
    ///
    /// - Parameter digits: the hexadecimal digits of the token, of either case.
    /// - Returns: the step, or nil if the script has none, or none left, for the token.
    func nextStep(forTokenDigits digits: UnsafeBufferPointer<UInt8>) -> TokenStep? {
        guard !table.isEmpty else { return nil }
        let digits = ArraySlice(digits.map(\.lowercasedDigit))
        return table.next(for: digits).map { steps[$0] }
    }
}

/// One step of the script for a device token.
struct TokenStep: Sendable, Equatable {
    /// The kind of the tokens, which are refused with the topic of another kind; nil for any kind.
    var kind: TokenKind?
    /// The answer; nil for none at all.
    var answer: ServiceAnswer?
    /// For how many requests the step lasts; nil means for all that follow.
    var times: Int?
    /// How much later than usual the answer comes, in milliseconds.
    var delayMilliseconds: Int
}
