import Essentials
import Notifications
import PushServiceSimulator

/// One line of a script, read and checked.
struct ScriptLine {
    /// The lowercase hexadecimal digits with which the tokens begin.
    let tokenDigits: [UInt8]
    /// The step for requests with these tokens.
    let step: ScriptStep

    private struct Fields {
        var token: String?
        var kind: String?
        var answer: String?
        var status: Int64?
        var reason: String?
        var sinceMilliseconds: Int64?
        var times: Int64?
        var delayMilliseconds: Int64 = 0
        var unknownName: String?
    }

    /// Reads a line.
    ///
    /// - Throws: `SimulatorError` with the problem, without the line's number.
    init(parsing line: [UInt8], nowMilliseconds: Int64) throws(SimulatorError) {
        let fields = try Self.readFields(line)
        if let name = fields.unknownName {
            throw Self.invalid(
                "\"\(name)\" is unknown; a line has token, kind, answer, times, delay, since, status and reason")
        }
        guard let token = fields.token else { throw Self.invalid("it has no \"token\", the digits of a device token") }
        guard token.utf8.count <= 2 * DeviceToken.bytesMaximum,
            token.utf8.allSatisfy({ HexadecimalDigits.value(of: $0) != nil })
        else {
            throw Self.invalid("\"token\" has to be hexadecimal digits, at most \(2 * DeviceToken.bytesMaximum)")
        }
        tokenDigits = token.utf8.map { (65...70).contains($0) ? $0 | 0x20 : $0 }
        if let times = fields.times, times < 1 { throw Self.invalid("\"times\" has to be at least 1") }
        guard (0...86_400_000).contains(fields.delayMilliseconds) else {
            throw Self.invalid("\"delay\" has to be 0 to 86400000 milliseconds")
        }
        step = ScriptStep(
            kind: try fields.kind.map { name throws(SimulatorError) in try Self.kind(named: name) },
            answer: try Self.answer(fields, nowMilliseconds: nowMilliseconds), times: fields.times.map { Int($0) },
            delayMilliseconds: Int(fields.delayMilliseconds))
    }

    private static func kind(named name: String) throws(SimulatorError) -> TokenKind {
        guard let kind = TokenKind(rawValue: name) else {
            let kinds = TokenKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid("\"kind\" cannot be \"\(name)\"; it is one of \(kinds)")
        }
        return kind
    }

    private static func answer(_ fields: Fields, nowMilliseconds: Int64) throws(SimulatorError) -> ScriptedAnswer? {
        let since = fields.sinceMilliseconds ?? nowMilliseconds
        switch fields.answer {
        case "accept", "delay": return .accepted
        case "silent": return nil
        case "unregistered": return ScriptedAnswer(.unregistered, timestampMilliseconds: since)
        case "expired-token": return ScriptedAnswer(.expiredToken, timestampMilliseconds: since)
        case "throttle": return ScriptedAnswer(.tooManyRequests)
        case "bad-device-token": return ScriptedAnswer(.badDeviceToken)
        case "not-for-topic": return ScriptedAnswer(.deviceTokenNotForTopic)
        case "status": return try statusAnswer(fields)
        case .some(let other):
            throw invalid(
                """
                "answer" cannot be "\(other)"; it is one of accept, delay, silent, unregistered, expired-token, \
                throttle, bad-device-token, not-for-topic, status
                """)
        case .none: throw invalid("it has no \"answer\"")
        }
    }

    private static func statusAnswer(_ fields: Fields) throws(SimulatorError) -> ScriptedAnswer {
        guard let status = fields.status, (200...599).contains(status) else {
            throw invalid("\"answer\":\"status\" needs \"status\", a number from 200 to 599")
        }
        if status == 200 { return .accepted }
        guard let reason = fields.reason else {
            throw invalid("\"answer\":\"status\" needs \"reason\", for example InternalServerError")
        }
        return ScriptedAnswer(
            status: Int(status), reason: reason, timestampMilliseconds: status == 410 ? fields.sinceMilliseconds : nil)
    }

    private static func readFields(_ line: [UInt8]) throws(SimulatorError) -> Fields {
        do {
            return try line.withUnsafeBufferPointer { bytes throws(JSONReader.Malformed) in try readFields(bytes) }
        } catch {
            throw invalid("it has to be one JSON object with strings and whole numbers")
        }
    }

    private static func readFields(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONReader.Malformed) -> Fields {
        var reader = try JSONReader(bytes)
        var fields = Fields()
        try reader.enterObject()
        while let key = try reader.nextKey() {
            switch String(decoding: key, as: UTF8.self) {
            case "token": fields.token = try reader.readPlainString()
            case "kind": fields.kind = try reader.readPlainString()
            case "answer": fields.answer = try reader.readPlainString()
            case "reason": fields.reason = try reader.readPlainString()
            case "status": fields.status = try reader.readInteger()
            case "since": fields.sinceMilliseconds = try reader.readInteger()
            case "times": fields.times = try reader.readInteger()
            case "delay": fields.delayMilliseconds = try reader.readInteger()
            case let name:
                fields.unknownName = name
                try reader.skipValue()
            }
        }
        try reader.readEnd()
        return fields
    }

    private static func invalid(_ message: String) -> SimulatorError { SimulatorError(.scriptInvalid, message) }
}
