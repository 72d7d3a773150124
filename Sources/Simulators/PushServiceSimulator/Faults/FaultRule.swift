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
    var trigger = FaultSyntax.Trigger.request
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
    private static let memberNames = [
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
        do throws(JSONError) { value = try parser.parse(line) } catch {
            throw .scriptInvalid("it is no JSON: \(error)")
        }
        guard let object = value.object else { throw .scriptInvalid("it is no JSON object") }
        try object.require(Self.memberNames, listed: "'apus simulate --help' lists the members")
        self.init(fault: try Self.fault(object, syntax))
        connection = try object.integer("connection", 1...Int64(Int32.max))
        after = try object.integer("after", 0...Int64(Int32.max)) ?? 0
        times = try object.integer("times", 1...Int64(Int32.max))
        let token = object["token"]?.string ?? ""
        self.token = Array((syntax.lowercasesTokens ? token.lowercased() : token).utf8)
        guard let trigger = syntax.triggers[object["on"]?.string ?? "request"] else {
            throw .scriptInvalid("\"on\" has to be \(syntax.triggers.keys.sorted().joined(separator: " or "))")
        }
        self.trigger = trigger
        if let value = object["probability"] {
            guard let probability = value.double, (0...1).contains(probability) else {
                throw .scriptInvalid("\"probability\" has to be 0 to 1")
            }
            self.probability = probability
        }
    }

    private static func fault(_ object: JSONObject, _ syntax: FaultSyntax) throws(SimulatorError) -> Fault {
        switch object["fault"]?.string {
        case "goaway": return try goAway(object)
        case "reset-stream": return .resetStream(errorCode: UInt32(try object.integer("error", 0...0xFFFF) ?? 2))
        case "stream-limit":
            return .streamLimit(
                try object.integer("streams", 0...1_000_000) ?? 1,
                backAfterMilliseconds: try object.integer("back_ms", 0...3_600_000) ?? 1_000)
        case "wedge": return .wedgeConnection
        case "answer": return .answer(try answer(object, syntax))
        case "silence": return .silence
        case "lose-answer": return .loseAnswer
        case "cut-answer": return .cutAnswer(afterBytes: try bytes(object, 0))
        case "delay": return .delay(milliseconds: try object.integer("ms", 0...3_600_000) ?? 1_000)
        case "endless-answer":
            guard let part = Fault.Endless(rawValue: object["of"]?.string ?? "body") else {
                throw .scriptInvalid("\"of\" has to be body or information")
            }
            let status = try object.integer("status", 100...599) ?? (part == .body ? 200 : 103)
            return .endless(part, status: status)
        case "tcp-reset": return .wire(.reset(afterBytes: try bytes(object, 0)))
        case "tcp-silence": return .wire(.silence(afterBytes: try bytes(object, 0)))
        case "drip": return .wire(.drip(bytesPerMillisecond: max(1, try bytes(object, 1))))
        case "idle-end":
            return .wire(.endWhenIdle(afterMilliseconds: try object.integer("ms", 1...3_600_000) ?? 1_000))
        case "window":
            return .window(
                bytes: try bytes(object, 65_535),
                addedBytes: try object.integer("add", 0...sizeBytesMaximum) ?? 0,
                everyMilliseconds: try object.integer("every_ms", 1...3_600_000) ?? 100)
        case "certificate": return .foreignCertificate
        case let name:
            throw .scriptInvalid("\"fault\" cannot be \"\(name ?? "")\"; 'apus simulate --help' lists the faults")
        }
    }

    private static func goAway(_ object: JSONObject) throws(SimulatorError) -> Fault {
        let error = UInt32(try object.integer("error", 0...0xFFFF) ?? 0)
        let reason = object["reason"]?.string
        guard let last = object["last"], last.kind != .integer else {
            let stream = try object.integer("last", 0...Int64(Int32.max))
            return .goAway(stream.map { .upTo(Int32($0)) } ?? .newest, errorCode: error, reason: reason)
        }
        let words: [String: Fault.LastStream] = ["newest": .newest, "previous": .previous, "none": .none]
        guard let word = last.string, let named = words[word] else {
            throw .scriptInvalid("\"last\" has to be newest, previous, none or the number of a stream")
        }
        return .goAway(named, errorCode: error, reason: reason)
    }

    private static func answer(
        _ object: JSONObject, _ syntax: FaultSyntax
    ) throws(SimulatorError) -> ServiceAnswer {
        let status = try object.integer("status", 200...599)
        var answer = ServiceAnswer(status: status ?? 200)
        if let body = object["body"]?.string {
            answer.body = Array(body.utf8)
        } else if let reason = object["reason"]?.string {
            let timestamp = try object.integer("timestamp", 0...Int64.max)
            guard let named = syntax.answer(status, reason, timestamp.map { Int64($0) }) else {
                throw .scriptInvalid("\"reason\" cannot be \"\(reason)\"; 'apus simulate --help' lists the reasons")
            }
            answer = named
        }
        if let type = object["content_type"]?.string { answer.contentType = type }
        if let size = try object.integer("body_bytes", 0...sizeBytesMaximum), size > answer.body.count {
            answer.body += [UInt8](repeating: 0x20, count: size - answer.body.count)
        }
        answer.extraHeaderBytes = try object.integer("header_bytes", 0...60_000) ?? 0
        if object["retry_after"] != nil { answer.retryAfter = object.retryAfter }
        return answer
    }

    private static func bytes(_ object: JSONObject, _ usual: Int) throws(SimulatorError) -> Int {
        try object.integer("bytes", 0...sizeBytesMaximum) ?? usual
    }
}
