import JSON
public import PushServiceSimulator

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
public typealias RegistrationScript = SimulatorScript<RegistrationAnswer>

/// The answer to a message for a registration ID.
public enum RegistrationAnswer: Equatable, Sendable {
    /// It is accepted.
    case accept
    /// It is accepted, and answered with another registration ID.
    case replace(successor: String)
    /// It is accepted, and the answer does not come: a repetition is a duplicate.
    case lose
    /// It is neither accepted nor answered.
    case silence
    /// It is refused.
    case refuse(ServiceAnswer)
}

extension RegistrationScript {
    private static var names: [StaticString] { ["registration", "answer", "successor", "retry_after", "times"] }

    /// Reads a script.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        try self.init(parsing: bytes) { object throws(SimulatorError) in
            if let unknown = object.firstMember(notAmong: Self.names) {
                let names = Self.names.map { "\($0)" }.joined(separator: ", ")
                throw .scriptInvalid("\"\(unknown.key.prefix(32))\" is unknown; a line has \(names)")
            }
            guard let beginning = object["registration"]?.string else {
                throw .scriptInvalid("it needs \"registration\", the text with which the registration IDs begin")
            }
            let times = try object.times()
            return ScriptStep(beginning, try Self.answer(object), times: times)
        }
    }

    private static func answer(_ object: JSONObject) throws(SimulatorError) -> RegistrationAnswer {
        let retryAfter = object.retryAfter
        switch object["answer"]?.string {
        case "accept": return .accept
        case "replaced":
            guard let successor = object["successor"]?.string else {
                throw .scriptInvalid("\"answer\":\"replaced\" needs \"successor\"")
            }
            return .replace(successor: successor)
        case "lose": return .lose
        case "silent": return .silence
        case "unregistered": return .refuse(.adm(400, reason: "Unregistered"))
        case "invalid": return .refuse(.adm(400, reason: "InvalidRegistrationId"))
        case "throttled": return .refuse(.adm(429, reason: "MaxRateExceeded", retryAfter: retryAfter))
        case "internal": return .refuse(.adm(status: 500, body: "", retryAfter: retryAfter))
        case "unavailable": return .refuse(.adm(status: 503, body: "", retryAfter: retryAfter))
        case "expired": return .refuse(.adm(401, reason: "AccessTokenExpired"))
        default:
            throw .scriptInvalid(
                "\"answer\" has to be accept, replaced, lose, silent, unregistered, invalid, throttled, internal, "
                    + "unavailable or expired")
        }
    }
}
