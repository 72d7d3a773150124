import Essentials
import Notifications
import PushServiceSimulator

/// One line of a script, read and checked.
struct ScriptLine {
    /// The lowercase hexadecimal digits with which the tokens begin.
    let tokenDigits: [UInt8]
    /// The step for requests with these tokens.
    let step: TokenStep

    private typealias Fields = (texts: [String: String], numbers: [String: Int64], unknownName: String?)

    /// Reads a line.
    ///
    /// - Throws: `SimulatorError` with the problem, without the line's number.
    init(parsing line: [UInt8], nowMilliseconds: Int64) throws(SimulatorError) {
        let fields = try Self.readFields(line)
        if let name = fields.unknownName {
            throw .scriptInvalid(
                "\"\(name)\" is unknown; a line has token, kind, answer, times, delay, since, status and reason")
        }
        guard let token = fields.texts["token"] else {
            throw .scriptInvalid("it has no \"token\", the digits of a device token")
        }
        guard token.utf8.count <= 2 * DeviceToken.bytesMaximum,
            token.utf8.allSatisfy({ HexadecimalDigits.value(of: $0) != nil })
        else {
            throw .scriptInvalid("\"token\" has to be hexadecimal digits, at most \(2 * DeviceToken.bytesMaximum)")
        }
        tokenDigits = token.utf8.map(\.lowercasedDigit)
        let times = fields.numbers["times"]
        if let times, times < 1 { throw .scriptInvalid("\"times\" has to be at least 1") }
        let delayMilliseconds = fields.numbers["delay"] ?? 0
        guard (0...86_400_000).contains(delayMilliseconds) else {
            throw .scriptInvalid("\"delay\" has to be 0 to 86400000 milliseconds")
        }
        step = TokenStep(
            kind: try fields.texts["kind"].map { name throws(SimulatorError) in try Self.kind(named: name) },
            answer: try Self.answer(fields, nowMilliseconds: nowMilliseconds), times: times.map { Int($0) },
            delayMilliseconds: Int(delayMilliseconds))
    }

    private static func kind(named name: String) throws(SimulatorError) -> TokenKind {
        guard let kind = TokenKind(rawValue: name) else {
            let kinds = TokenKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .scriptInvalid("\"kind\" cannot be \"\(name)\"; it is one of \(kinds)")
        }
        return kind
    }

    private static func answer(_ fields: Fields, nowMilliseconds: Int64) throws(SimulatorError) -> ServiceAnswer? {
        let since = fields.numbers["since"] ?? nowMilliseconds
        switch fields.texts["answer"] {
        case "accept", "delay": return .accepted
        case "silent": return nil
        case "unregistered": return .apns(.unregistered, timestampMilliseconds: since)
        case "expired-token": return .apns(.expiredToken, timestampMilliseconds: since)
        case "throttle": return .apns(.tooManyRequests)
        case "bad-device-token": return .apns(.badDeviceToken)
        case "not-for-topic": return .apns(.deviceTokenNotForTopic)
        case "status": return try statusAnswer(fields)
        case .some(let other):
            throw .scriptInvalid(
                """
                "answer" cannot be "\(other)"; it is one of accept, delay, silent, unregistered, expired-token, \
                throttle, bad-device-token, not-for-topic, status
                """)
        case .none: throw .scriptInvalid("it has no \"answer\"")
        }
    }

    private static func statusAnswer(_ fields: Fields) throws(SimulatorError) -> ServiceAnswer {
        guard let status = fields.numbers["status"], (200...599).contains(status) else {
            throw .scriptInvalid("\"answer\":\"status\" needs \"status\", a number from 200 to 599")
        }
        if status == 200 { return .accepted }
        guard let reason = fields.texts["reason"] else {
            throw .scriptInvalid("\"answer\":\"status\" needs \"reason\", for example InternalServerError")
        }
        return .apns(Int(status), reason, timestampMilliseconds: status == 410 ? fields.numbers["since"] : nil)
    }

    private static func readFields(_ line: [UInt8]) throws(SimulatorError) -> Fields {
        do {
            return try JSONReader.members(
                of: line, texts: ["token", "kind", "answer", "reason"], numbers: ["status", "since", "times", "delay"])
        } catch {
            throw .scriptInvalid("it has to be one JSON object with strings and whole numbers")
        }
    }
}
