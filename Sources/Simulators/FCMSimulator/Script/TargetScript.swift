import JSON
public import PushServiceSimulator

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
public typealias TargetScript = SimulatorScript<TargetAnswer>

extension TargetScript {
    private static var memberNames: [String] {
        ["answer", "delay", "fid", "reason", "retry_after", "status", "times", "token"]
    }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        try self.init(parsing: bytes) { object throws(SimulatorError) in
            try object.require(Self.memberNames, listed: "a line has \(Self.memberNames)")
            let target: MessageTarget
            switch (object["token"]?.string, object["fid"]?.string) {
            case (let token?, nil): target = MessageTarget(.token, token)
            case (nil, let fid?): target = MessageTarget(.fid, fid)
            default: throw .scriptInvalid("it needs \"token\" or \"fid\", the text with which the addresses begin")
            }
            let times = try object.times()
            let delay = try object.integer("delay", 0...86_400_000) ?? 0
            return ScriptStep(
                target.scriptAddress, try TargetAnswer(object), times: times, delayMilliseconds: Int64(delay))
        }
    }
}

extension MessageTarget {
    /// The address by which a script knows it: kinds of addresses have steps of their own.
    var scriptAddress: String { "\(kind.rawValue):\(value)" }
}

/// The answer to a message.
public enum TargetAnswer: Equatable, Sendable {
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
    fileprivate init(_ object: JSONObject) throws(SimulatorError) {
        let status = try object.integer("status", 200...599)
        switch object["answer"]?.string {
        case "accept": self = .accept
        case "lose": self = .lose
        case "silent": self = .silence
        case "refuse":
            guard let refusal = object["reason"]?.string.flatMap(FCMRefusal.init(rawValue:)) else {
                let reasons = FCMRefusal.allCases.map(\.rawValue).joined(separator: ", ")
                throw .scriptInvalid("\"answer\":\"refuse\" needs \"reason\", one of \(reasons)")
            }
            self = .refuse(refusal, status: status, retryAfter: object.retryAfter)
        case .some(let state):
            guard let refusal = Self.states[state] else {
                let words = ["accept", "lose", "silent", "refuse"] + Self.states.keys.sorted()
                throw .scriptInvalid(
                    "\"answer\" cannot be \"\(state)\"; it is one of \(words.joined(separator: ", "))")
            }
            self = .refuse(refusal, status: status, retryAfter: object.retryAfter)
        case nil: throw .scriptInvalid("it has no \"answer\"")
        }
    }
}
