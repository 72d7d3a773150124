import JSON
public import PushServiceSimulator
import Synchronization

/// The answers of a simulator of ADM to messages for particular registration IDs, instead of accepting them.
///
/// A script is a file of JSON objects, one a line. Each has `registration`, the text with which the registration IDs
/// begin (none for every one), and `answer`:
///
///     {"registration":"amzn1.adm-registration.v3.old","answer":"replaced","successor":"amzn1.adm-registration.v3.new"}
///     {"registration":"","answer":"unavailable","retry_after":"5","times":1}
///
/// | answer | what becomes of the message |
/// |---|---|
/// | `accept`, `replaced` | accepted; `replaced` answers with the registration ID `successor` |
/// | `lose` | accepted, and the answer does not come: a repetition is a duplicate |
/// | `silent` | neither accepted nor answered |
/// | `unregistered`, `invalid` | 400 `Unregistered`, 400 `InvalidRegistrationId` |
/// | `throttled`, `internal`, `unavailable` | 429 `MaxRateExceeded`, 500, 503, with `retry_after` if it is there |
/// | `expired` | 401 `AccessTokenExpired`, whatever the access token is |
///
/// The entry with the longest beginning counts. Several lines with the same beginning are steps, one after the other,
/// counted for each registration ID separately; after the last step, messages are accepted. `times` is for how many
/// messages a step lasts.
public struct RegistrationScript: Sendable {
    /// One line.
    struct Step: Sendable {
        let beginning: String
        let answer: Answer
        let times: Int?
    }

    /// The answer to a message.
    enum Answer: Equatable, Sendable {
        case accept
        case replace(successor: String)
        case lose
        case silence
        case refuse(ADMAnswer)
    }

    var steps: [Step]

    /// A script that accepts all.
    public static let empty = RegistrationScript(steps: [])

    private init(steps: [Step]) { self.steps = steps }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var steps: [Step] = []
        try ScriptLines.read(bytes, of: "script") { line throws(SimulatorError) in steps.append(try Step(line)) }
        self.steps = steps
    }
}

extension RegistrationScript.Step {
    private static let names: [StaticString] = ["registration", "answer", "successor", "retry_after", "times"]

    fileprivate init(_ line: [UInt8]) throws(SimulatorError) {
        guard let object = (try? JSONParser(depthMaximum: 8).parse(line))?.object else {
            throw Self.invalid("it has to be one JSON object")
        }
        if let unknown = object.firstMember(notAmong: Self.names) {
            let names = Self.names.map { "\($0)" }.joined(separator: ", ")
            throw Self.invalid("\"\(unknown.key.prefix(32))\" is unknown; a line has \(names)")
        }
        guard let beginning = object["registration"]?.string else {
            throw Self.invalid("it needs \"registration\", the text with which the registration IDs begin")
        }
        self.beginning = beginning
        if let value = object["times"] {
            guard let count = value.int64, (1...Int64(Int32.max)).contains(count) else {
                throw Self.invalid("\"times\" has to be a number from 1 to \(Int32.max)")
            }
            times = Int(count)
        } else {
            times = nil
        }
        answer = try Self.answer(
            object["answer"]?.string, successor: object["successor"]?.string,
            retryAfter: object["retry_after"]?.string ?? object["retry_after"]?.int64.map { String($0) })
    }

    private static func answer(
        _ word: String?, successor: String?, retryAfter: String?
    ) throws(SimulatorError) -> RegistrationScript.Answer {
        switch word {
        case "accept": return .accept
        case "replaced":
            guard let successor else { throw invalid("\"answer\":\"replaced\" needs \"successor\"") }
            return .replace(successor: successor)
        case "lose": return .lose
        case "silent": return .silence
        case "unregistered": return .refuse(ADMAnswer(400, reason: "Unregistered"))
        case "invalid": return .refuse(ADMAnswer(400, reason: "InvalidRegistrationId"))
        case "throttled": return .refuse(ADMAnswer(429, reason: "MaxRateExceeded", retryAfter: retryAfter))
        case "internal": return .refuse(ADMAnswer(status: 500, body: "", retryAfter: retryAfter))
        case "unavailable": return .refuse(ADMAnswer(status: 503, body: "", retryAfter: retryAfter))
        case "expired": return .refuse(ADMAnswer(401, reason: "AccessTokenExpired"))
        default:
            throw invalid(
                "\"answer\" has to be accept, replaced, lose, silent, unregistered, invalid, throttled, internal, "
                    + "unavailable or expired")
        }
    }

    private static func invalid(_ message: String) -> SimulatorError { SimulatorError(.scriptInvalid, message) }
}

/// The script of a running simulator, which may change at any time.
final class RegistrationBook: Sendable {
    private struct Table {
        let script: RegistrationScript
        let steps: PrefixSteps

        init(_ script: RegistrationScript) {
            self.script = script
            steps = PrefixSteps(script.steps.map { (Array($0.beginning.utf8), $0.times) })
        }
    }

    private let table: Mutex<Table>

    init(_ script: RegistrationScript) { table = Mutex(Table(script)) }

    /// Takes the step that is due for a message to a registration ID; nil if it has none, or none left.
    func nextStep(for registrationID: String) -> RegistrationScript.Step? {
        table.withLock { table in
            table.steps.next(for: ArraySlice(registrationID.utf8)).map { table.script.steps[$0] }
        }
    }

    /// Puts a whole script in the place of the present one.
    func replace(by script: RegistrationScript) { table.withLock { $0 = Table(script) } }

    /// Changes what becomes of the registration IDs that a script names; all begin with their first steps again.
    func change(by script: RegistrationScript) {
        let changed = Set(script.steps.map(\.beginning))
        table.withLock { table in
            var whole = table.script
            whole.steps.removeAll { changed.contains($0.beginning) }
            whole.steps += script.steps
            table = Table(whole)
        }
    }
}
