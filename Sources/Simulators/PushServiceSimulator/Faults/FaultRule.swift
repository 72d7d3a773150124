import JSON

/// A fault, and the requests that get it.
struct FaultRule: Hashable, Sendable {
    /// The fault.
    var fault: Fault
    /// The connection, counted from 1; nil for each.
    var connection: Int?
    /// The number of a connection's requests before the first fault.
    var after = 0
    /// The bytes with which the device tokens begin.
    var token: [UInt8] = []
    /// When it is decided about.
    var trigger = FaultTrigger.request
    /// The probability, each time that all other conditions hold: 0 to 1.
    var probability = 1.0
    /// How often it happens; nil for as often as it can.
    var times: Int?

    func befalls(connection number: Int) -> Bool {
        fault.befallsConnections && (connection ?? number) == number
    }

    func befalls(_ request: FaultPlan.Request) -> Bool {
        !fault.befallsConnections && (connection ?? request.connection) == request.connection
            && request.number > after && trigger == request.trigger && request.token.starts(with: token)
    }
}

/// A fault as a JSON object on one line: `fault` names it, the other members select its requests.
///
/// | `fault` | members of its own |
/// |---|---|
/// | `goaway` | `last`: `newest` (default), `previous`, `none`, or a stream; `error` (0); `reason` |
/// | `reset-stream` | `error` (2, INTERNAL_ERROR; 7 is REFUSED_STREAM) |
/// | `stream-limit` | `streams` (1), `back_ms` (1000) |
/// | `wedge` | |
/// | `answer` | `status`, `reason` or `body`, `timestamp`, `content_type`, `retry_after`, and sizes: `header_bytes`, |
/// | | `body_bytes` |
/// | `silence`, `lose-answer` | |
/// | `cut-answer` | `bytes` (0): after so many of the body |
/// | `delay` | `ms` |
/// | `endless-answer` | `of`: `body` (default) or `information`; `status` (200, and 103) |
/// | `tcp-reset`, `tcp-silence` | `bytes` (0): after so many to the client |
/// | `drip` | `bytes` (1) a millisecond |
/// | `idle-end` | `ms` (1000) without a byte |
/// | `window` | `bytes` (65535), `add` (0), `every_ms` (100) |
/// | `certificate` | |
///
/// Aims: `connection` (a number), `after` (requests), `token` (first bytes), `on`: `request` (default), `rejection`, or
/// what else the service has in `FaultSyntax`; `probability` (1), `times` (unlimited).
extension FaultRule {
    private static let memberNames: Set<String> = [
        "fault", "last", "error", "reason", "streams", "back_ms", "status", "body", "timestamp", "retry_after",
        "content_type", "header_bytes", "body_bytes", "ms", "bytes", "add", "every_ms", "connection", "after", "token",
        "on", "probability", "times", "of",
    ]
    private static let sizeBytesMaximum: Int64 = 1 << 24

    /// Reads the faults of a file, one a line; empty lines are passed over.
    ///
    /// - Throws: `SimulatorError` with the number of the first line that is wrong.
    static func parse(lines bytes: [UInt8], as syntax: FaultSyntax) throws(SimulatorError) -> [FaultRule] {
        var rules: [FaultRule] = []
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: 65_536)
        try ScriptLines.read(bytes, of: "faults") { line throws(SimulatorError) in
            rules.append(try FaultRule(parsing: line, parser, syntax))
        }
        return rules
    }

    /// Reads one fault.
    init(parsing line: [UInt8], _ parser: JSONParser, _ syntax: FaultSyntax) throws(SimulatorError) {
        let value: JSONValue
        do throws(JSONError) { value = try parser.parse(line) } catch { throw Self.invalid("it is no JSON: \(error)") }
        guard let object = value.object else { throw Self.invalid("it is no JSON object") }
        for member in object where !Self.memberNames.contains(member.key) {
            throw Self.invalid("\"\(member.key)\" is unknown; 'apus simulate --help' lists the members")
        }
        self.init(fault: try Self.fault(object, syntax))
        connection = try Self.integer(object, "connection", 1...Int64(Int32.max)).map { Int($0) }
        after = Int(try Self.integer(object, "after", 0...Int64(Int32.max)) ?? 0)
        times = try Self.integer(object, "times", 1...Int64(Int32.max)).map { Int($0) }
        let token = object["token"]?.string ?? ""
        self.token = Array((syntax.lowercasesTokens ? token.lowercased() : token).utf8)
        guard let trigger = syntax.triggers[object["on"]?.string ?? "request"] else {
            throw Self.invalid("\"on\" has to be \(syntax.triggers.keys.sorted().joined(separator: " or "))")
        }
        self.trigger = trigger
        if let value = object["probability"] {
            guard let probability = value.double, (0...1).contains(probability) else {
                throw Self.invalid("\"probability\" has to be 0 to 1")
            }
            self.probability = probability
        }
    }

    private static func fault(_ object: JSONObject, _ syntax: FaultSyntax) throws(SimulatorError) -> Fault {
        switch object["fault"]?.string {
        case "goaway": return try goAway(object)
        case "reset-stream": return .resetStream(errorCode: UInt32(try integer(object, "error", 0...0xFFFF) ?? 2))
        case "stream-limit":
            return .streamLimit(
                Int(try integer(object, "streams", 0...1_000_000) ?? 1),
                backAfterMilliseconds: Int(try integer(object, "back_ms", 0...3_600_000) ?? 1_000))
        case "wedge": return .wedgeConnection
        case "answer": return .answer(try answer(object, syntax))
        case "silence": return .silence
        case "lose-answer": return .loseAnswer
        case "cut-answer": return .cutAnswer(afterBytes: try bytes(object, 0))
        case "delay": return .delay(milliseconds: Int(try integer(object, "ms", 0...3_600_000) ?? 1_000))
        case "endless-answer":
            guard let part = Fault.Endless(rawValue: object["of"]?.string ?? "body") else {
                throw invalid("\"of\" has to be body or information")
            }
            let status = try integer(object, "status", 100...599) ?? (part == .body ? 200 : 103)
            return .endless(part, status: Int(status))
        case "tcp-reset": return .wire(.reset(afterBytes: try bytes(object, 0)))
        case "tcp-silence": return .wire(.silence(afterBytes: try bytes(object, 0)))
        case "drip": return .wire(.drip(bytesPerMillisecond: max(1, try bytes(object, 1))))
        case "idle-end":
            return .wire(.endWhenIdle(afterMilliseconds: Int(try integer(object, "ms", 1...3_600_000) ?? 1_000)))
        case "window":
            return .window(
                bytes: try bytes(object, 65_535),
                addedBytes: Int(try integer(object, "add", 0...sizeBytesMaximum) ?? 0),
                everyMilliseconds: Int(try integer(object, "every_ms", 1...3_600_000) ?? 100))
        case "certificate": return .foreignCertificate
        case let name:
            throw invalid("\"fault\" cannot be \"\(name ?? "")\"; 'apus simulate --help' lists the faults")
        }
    }

    private static func goAway(_ object: JSONObject) throws(SimulatorError) -> Fault {
        let error = UInt32(try integer(object, "error", 0...0xFFFF) ?? 0)
        let reason = object["reason"]?.string
        guard let last = object["last"], last.kind != .integer else {
            let stream = try integer(object, "last", 0...Int64(Int32.max))
            return .goAway(stream.map { .upTo(Int32($0)) } ?? .newest, errorCode: error, reason: reason)
        }
        switch last.string {
        case "newest": return .goAway(.newest, errorCode: error, reason: reason)
        case "previous": return .goAway(.previous, errorCode: error, reason: reason)
        case "none": return .goAway(.none, errorCode: error, reason: reason)
        default: throw invalid("\"last\" has to be newest, previous, none or the number of a stream")
        }
    }

    private static func answer(
        _ object: JSONObject, _ syntax: FaultSyntax
    ) throws(SimulatorError) -> FaultyAnswer {
        let status = try integer(object, "status", 200...599).map { Int($0) }
        var answer = FaultyAnswer(status: status ?? 200)
        if let body = object["body"]?.string {
            answer.body = Array(body.utf8)
        } else if let reason = object["reason"]?.string {
            let timestamp = try integer(object, "timestamp", 0...Int64.max)
            guard let named = syntax.answer(status, reason, timestamp) else {
                throw invalid("\"reason\" cannot be \"\(reason)\"; 'apus simulate --help' lists the reasons")
            }
            answer = named
        }
        if let type = object["content_type"]?.string { answer.contentType = type }
        if let size = try integer(object, "body_bytes", 0...sizeBytesMaximum), size > answer.body.count {
            answer.body += [UInt8](repeating: 0x20, count: Int(size) - answer.body.count)
        }
        answer.extraHeaderBytes = Int(try integer(object, "header_bytes", 0...60_000) ?? 0)
        if let value = object["retry_after"] {
            answer.retryAfter = value.string ?? value.int64.map { String($0) }
        }
        return answer
    }

    private static func bytes(_ object: JSONObject, _ usual: Int) throws(SimulatorError) -> Int {
        Int(try integer(object, "bytes", 0...sizeBytesMaximum) ?? Int64(usual))
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
