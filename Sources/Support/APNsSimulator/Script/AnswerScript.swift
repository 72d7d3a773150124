import Notifications
import Synchronization

/// The simulator's answers to particular device tokens, instead of accepting their pushes.
///
/// A script is a file of JSON objects, one a line. Each has `token`, the hexadecimal digits with which device tokens
/// begin (all of them for a single token, none for every token), and `answer`. The entry with the most digits counts.
/// Several lines of the same digits are steps, one after the other, counted for each device token separately; after the
/// last step, pushes are accepted.
public final class AnswerScript: Sendable {
    /// How many device tokens can be in the middle of their steps at once; further ones stay at their first step.
    static let countedTokensMaximum = 1_000_000

    private let steps: [ArraySlice<UInt8>: [ScriptStep]]
    /// The lengths of all keys, longest first.
    private let keyLengths: [Int]
    private let requestCounts = Mutex<[ArraySlice<UInt8>: Int]>([:])

    /// Every answer that the script can give.
    let answers: [ScriptedAnswer]

    /// A script that accepts all.
    public static let empty = AnswerScript(steps: [:])

    private init(steps: [ArraySlice<UInt8>: [ScriptStep]]) {
        self.steps = steps
        keyLengths = Set(steps.keys.map(\.count)).sorted(by: >)
        answers = Array(Set(steps.values.joined().compactMap(\.answer)))
    }

    /// Reads a script.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - nowMilliseconds: since when a token is dead whose line does not say it, in milliseconds since 1970.
    /// - Throws: `SimulatorError` with the number of the first line that is wrong.
    public convenience init(parsing bytes: [UInt8], nowMilliseconds: Int64) throws(SimulatorError) {
        var steps: [ArraySlice<UInt8>: [ScriptStep]] = [:]
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) {
            do {
                let parsed = try ScriptLine(parsing: Array(line), nowMilliseconds: nowMilliseconds)
                steps[ArraySlice(parsed.tokenDigits), default: []].append(parsed.step)
            } catch {
                throw SimulatorError(.scriptInvalid, "line \(index + 1) of the script: \(error.message)")
            }
        }
        self.init(steps: steps)
    }

    /// Takes the step that is due for a request to a device token.
    ///
    /// - Parameter digits: the hexadecimal digits of the token, of either case.
    /// - Returns: the step, or nil if the script has none, or none left, for the token.
    func nextStep(forTokenDigits digits: UnsafeBufferPointer<UInt8>) -> ScriptStep? {
        guard !steps.isEmpty else { return nil }
        let digits = ArraySlice(digits.map { (65...70).contains($0) ? $0 | 0x20 : $0 })
        for length in keyLengths where length <= digits.count {
            if let steps = steps[digits.prefix(length)] { return nextStep(of: steps, digits: digits) }
        }
        return nil
    }

    private func nextStep(of steps: [ScriptStep], digits: ArraySlice<UInt8>) -> ScriptStep? {
        // A step that lasts for ever needs no counting, so it costs no lock.
        if let first = steps.first, first.times == nil { return first }
        var remaining = requestCounts.withLock { counts in
            let count = counts[digits] ?? 0
            if count > 0 || counts.count < Self.countedTokensMaximum { counts[digits] = count + 1 }
            return count
        }
        for step in steps {
            guard let times = step.times, remaining >= times else { return step }
            remaining -= times
        }
        return nil
    }
}

/// One step of the script for a device token.
struct ScriptStep: Sendable, Equatable {
    /// The kind of the tokens, which are refused with the topic of another kind; nil for any kind.
    var kind: TokenKind?
    /// The answer; nil for none at all.
    var answer: ScriptedAnswer?
    /// For how many requests the step lasts; nil means for all that follow.
    var times: Int?
    /// How much later than usual the answer comes, in milliseconds.
    var delayMilliseconds: Int
}

/// The simulator's answer to one request.
struct ScriptedAnswer: Hashable, Sendable {
    /// The HTTP status.
    let status: Int
    /// The value of `reason`, or nil if the push is accepted.
    let reason: String?
    /// The value of `timestamp`: since when the device token is dead, in milliseconds since 1970.
    let timestampMilliseconds: Int64?

    init(status: Int, reason: String?, timestampMilliseconds: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestampMilliseconds = timestampMilliseconds
    }

    init(_ rejection: Rejection, timestampMilliseconds: Int64? = nil) {
        self.init(
            status: rejection.status, reason: rejection.rawValue, timestampMilliseconds: timestampMilliseconds)
    }

    static let accepted = ScriptedAnswer(status: 200, reason: nil)

    /// The body as APNs writes it; empty for an accepted push.
    var body: [UInt8] {
        guard let reason else { return [] }
        guard let timestampMilliseconds else { return Array("{\"reason\":\"\(reason)\"}".utf8) }
        return Array("{\"reason\":\"\(reason)\",\"timestamp\":\(timestampMilliseconds)}".utf8)
    }
}
