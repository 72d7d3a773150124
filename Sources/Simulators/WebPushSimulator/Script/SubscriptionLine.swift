import Essentials
import JSON
import PushServiceSimulator

/// One line of a script, read and checked.
struct SubscriptionLine: Equatable {
    /// The command of a line.
    enum Command: Equatable {
        /// Sets the answer to pushes.
        case answer(PushStep)
        /// Whether the browsers are online.
        case online(Bool)
    }

    private static let delayMillisecondsMaximum: Int64 = 86_400_000
    private static let memberNames = [
        "subscription", "answer", "online", "reason", "status", "retry_after", "retry_after_date", "bytes", "times",
        "delay",
    ]

    /// The text with which the names of the subscriptions begin.
    let beginning: String
    /// The line's command for the subscriptions.
    let command: Command
    /// For how many pushes the step lasts; nil means for all that follow.
    let times: Int?
    /// How much later than usual the answer comes.
    let delayMilliseconds: Int64

    /// Reads a line.
    ///
    /// - Throws: `SimulatorError` with the problem, without the line's number.
    init(parsing line: [UInt8]) throws(SimulatorError) {
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: 65_536)
        guard let object = (try? parser.parse(line))?.object else {
            throw Self.invalid("it has to be one JSON object")
        }
        for member in object where !Self.memberNames.contains(member.key) {
            throw Self.invalid("\"\(member.key)\" is unknown; a line has \(Self.memberNames.sorted())")
        }
        guard let beginning = object["subscription"]?.string else {
            throw Self.invalid("it needs \"subscription\", the text with which the names begin")
        }
        self.beginning = beginning
        let times = try Self.integer(object, "times", 1...Int64(Int32.max)).map { Int($0) }
        delayMilliseconds = try Self.integer(object, "delay", 0...Self.delayMillisecondsMaximum) ?? 0
        if let online = object["online"] {
            guard let isOnline = online.bool, object["answer"] == nil else {
                throw Self.invalid("\"online\" has to be true or false, and stands without \"answer\"")
            }
            command = .online(isOnline)
            self.times = nil
            return
        }
        let word = object["answer"]?.string
        command = .answer(try Self.step(word, object))
        // A browser that has only just subscribed is found later.
        self.times = word == "fresh" ? times ?? 1 : times
    }

    private static func step(_ word: String?, _ object: JSONObject) throws(SimulatorError) -> PushStep {
        switch word {
        case "accept": return .accept
        case "lose": return .lose
        case "silent": return .silence
        case "limit": return .limit(bytes: Int(try integer(object, "bytes", 103...4_096) ?? 2_744))
        case "refuse":
            guard let refusal = object["reason"]?.string.flatMap(WebPushRefusal.init(rawValue:)) else {
                let reasons = WebPushRefusal.allCases.map(\.rawValue).joined(separator: ", ")
                throw invalid("\"answer\":\"refuse\" needs \"reason\", one of \(reasons)")
            }
            return try refuse(refusal, object)
        case .some(let state):
            guard let refusal = PushStep.states[state] else {
                let words = ["accept", "lose", "silent", "limit", "refuse"] + PushStep.states.keys.sorted()
                throw invalid("\"answer\" cannot be \"\(state)\"; it is one of \(words.joined(separator: ", "))")
            }
            return try refuse(refusal, object)
        case nil: throw invalid("it has neither \"answer\" nor \"online\"")
        }
    }

    private static func refuse(
        _ refusal: WebPushRefusal, _ object: JSONObject
    ) throws(SimulatorError) -> PushStep {
        let status = try integer(object, "status", 200...599).map { Int($0) }
        if let ahead = try integer(object, "retry_after_date", 0...Int64(Int32.max)) {
            return .refuse(refusal, status: status, retryAfter: .date(secondsAhead: ahead))
        }
        let text = object["retry_after"].flatMap { $0.string ?? $0.int64.map { String($0) } }
        return .refuse(refusal, status: status, retryAfter: text.map { .text($0) })
    }

    private static func integer(
        _ object: JSONObject, _ key: StaticString, _ range: ClosedRange<Int64>
    ) throws(SimulatorError) -> Int64? {
        guard let value = object[key] else { return nil }
        guard let number = value.int64, range.contains(number) else {
            throw invalid("\"\(key)\" has to be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func invalid(_ message: String) -> SimulatorError { SimulatorError(.scriptInvalid, message) }
}

/// The answer to a push.
enum PushStep: Equatable {
    /// The header `retry-after`.
    enum RetryAfter: Equatable {
        case text(String)
        /// A date so many seconds ahead of the simulator's clock (RFC 9110 §10.2.3).
        case date(secondsAhead: Int64)

        /// The value of the header.
        func value(nowSeconds: Int64) -> String {
            switch self {
            case .text(let text): text
            case .date(let secondsAhead): HTTPDate.text(nowSeconds + secondsAhead)
            }
        }
    }

    /// It is accepted.
    case accept
    /// It is accepted, and the answer does not come: a repetition is a duplicate.
    case lose
    /// It is neither accepted nor answered.
    case silence
    /// It is accepted if its body has no more bytes.
    case limit(bytes: Int)
    /// It is refused, with another status than the usual one if there is one.
    case refuse(WebPushRefusal, status: Int?, retryAfter: RetryAfter?)

    /// The words that are short for a refusal.
    static let states: [String: WebPushRefusal] = [
        "gone": .gone, "fresh": .gone, "stale": .stale, "other-key": .vapidKeyMismatch,
        "unauthorized": .endpointUnauthorized, "throttled": .throttled, "unavailable": .unavailable,
        "internal": .internalError, "redirect": .redirect,
    ]
}
