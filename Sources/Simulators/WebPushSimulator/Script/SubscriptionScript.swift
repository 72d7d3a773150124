import Essentials
import JSON
public import PushServiceSimulator

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
    /// The answers to pushes.
    let answers: SimulatorScript<PushStep>
    /// The beginnings of names whose browsers are said to be online, or not, in order.
    let presence: [(beginning: String, isOnline: Bool)]

    /// A script that accepts all.
    public static let empty = SubscriptionScript()

    private init() { (answers, presence) = (.empty, []) }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var presence: [(beginning: String, isOnline: Bool)] = []
        answers = try SimulatorScript(parsing: bytes) { object throws(SimulatorError) in
            try object.require(Self.memberNames, listed: "a line has \(Self.memberNames)")
            guard let beginning = object["subscription"]?.string else {
                throw .scriptInvalid("it needs \"subscription\", the text with which the names begin")
            }
            let times = try object.times()
            let delay = Int64(try object.integer("delay", 0...86_400_000) ?? 0)
            if let online = object["online"] {
                guard let isOnline = online.bool, object["answer"] == nil else {
                    throw .scriptInvalid("\"online\" has to be true or false, and stands without \"answer\"")
                }
                presence.append((beginning, isOnline))
                return nil
            }
            let word = object["answer"]?.string
            let step = try PushStep(word, object)
            // A browser that has only just subscribed is found later.
            return ScriptStep(beginning, step, times: word == "fresh" ? times ?? 1 : times, delayMilliseconds: delay)
        }
        self.presence = presence
    }

    private static let memberNames = [
        "answer", "bytes", "delay", "online", "reason", "retry_after", "retry_after_date", "status", "subscription",
        "times",
    ]
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
    private static let states: [String: WebPushRefusal] = [
        "gone": .gone, "fresh": .gone, "stale": .stale, "other-key": .vapidKeyMismatch,
        "unauthorized": .endpointUnauthorized, "throttled": .throttled, "unavailable": .unavailable,
        "internal": .internalError, "redirect": .redirect,
    ]

    fileprivate init(_ word: String?, _ object: JSONObject) throws(SimulatorError) {
        switch word {
        case "accept": self = .accept
        case "lose": self = .lose
        case "silent": self = .silence
        case "limit": self = .limit(bytes: try object.integer("bytes", 103...4_096) ?? 2_744)
        case "refuse":
            guard let refusal = object["reason"]?.string.flatMap(WebPushRefusal.init(rawValue:)) else {
                let reasons = WebPushRefusal.allCases.map(\.rawValue).joined(separator: ", ")
                throw .scriptInvalid("\"answer\":\"refuse\" needs \"reason\", one of \(reasons)")
            }
            self = try Self.refuse(refusal, object)
        case .some(let state):
            guard let refusal = Self.states[state] else {
                let words = ["accept", "lose", "silent", "limit", "refuse"] + Self.states.keys.sorted()
                throw .scriptInvalid("\"answer\" cannot be \"\(state)\"; it is one of \(words.joined(separator: ", "))")
            }
            self = try Self.refuse(refusal, object)
        case nil: throw .scriptInvalid("it has neither \"answer\" nor \"online\"")
        }
    }

    private static func refuse(_ refusal: WebPushRefusal, _ object: JSONObject) throws(SimulatorError) -> PushStep {
        let status = try object.integer("status", 200...599)
        let ahead = try object.integer("retry_after_date", 0...Int64(Int32.max))
        let date = ahead.map { RetryAfter.date(secondsAhead: Int64($0)) }
        return .refuse(refusal, status: status, retryAfter: date ?? object.retryAfter.map { .text($0) })
    }
}
