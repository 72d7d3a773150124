import JSON
public import PushServiceSimulator

/// Faults of a simulator of Web Push, each of one origin or of all.
///
/// Beside the members that all simulators have, a line may have `origin`, the name of the only origin that has the
/// fault; without it each origin has the fault by itself, and counts `times` by itself. `token` is the text with which
/// the names of subscriptions begin, in their own case, and `reason` a name of `WebPushRefusal`:
///
///     {"fault":"goaway","origin":"fcm","last":"previous","error":1}
///     {"fault":"answer","reason":"THROTTLED","retry_after":"Wed, 21 Oct 2026 07:28:00 GMT","times":1}
///     {"fault":"lose-answer","token":"mozilla-0000001"}
///
/// An origin with HTTP/1.1 has `answer`, `silence`, `lose-answer`, `cut-answer` and `delay` only.
public struct WebPushFaults: Sendable {
    struct Line: Sendable {
        var origin: String?
        /// The line without `origin`.
        var text: [UInt8]
    }

    let lines: [Line]

    /// A simulator that behaves.
    public static let none = WebPushFaults(lines: [])

    private init(lines: [Line]) { self.lines = lines }

    /// Reads faults.
    ///
    /// - Parameter bytes: the content of the file, a JSON object a line.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var lines: [Line] = []
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: 65_536)
        try ScriptLines.read(bytes, of: "faults") { line throws(SimulatorError) in
            let read = try Self.read(line, parser)
            // Every profile knows the same reasons.
            do throws(SimulatorError) {
                _ = try SimulatorFaults(parsing: read.text, as: .webPush(.plain))
            } catch {
                throw .scriptInvalid(error.message.replacing("line 1 of the faults: ", with: ""))
            }
            lines.append(read)
        }
        self.lines = lines
    }

    private static func read(_ line: [UInt8], _ parser: JSONParser) throws(SimulatorError) -> Line {
        guard let object = (try? parser.parse(line))?.object else {
            throw .scriptInvalid("it is no JSON object")
        }
        guard let origin = object["origin"] else { return Line(text: line) }
        guard let name = origin.string else {
            throw .scriptInvalid("\"origin\" has to be the name of an origin")
        }
        var writer = JSONWriter()
        writer.beginObject()
        for member in object where !member.isNamed("origin") {
            writer.key(dynamic: member.key)
            writer.value(member.value)
        }
        writer.endObject()
        return Line(origin: name, text: writer.bytes)
    }

    /// The faults of one origin.
    ///
    /// - Throws: `SimulatorError`, which `init` would have thrown already.
    func faults(of origin: String, _ profile: ServiceProfile) throws(SimulatorError) -> SimulatorFaults {
        let own = lines.filter { $0.origin == nil || $0.origin == origin }.map(\.text)
        return try SimulatorFaults(parsing: Array(own.joined(separator: [0x0A])), as: .webPush(profile))
    }

    /// Refuses names of origins that there are not.
    func requireOrigins(_ names: [String]) throws(SimulatorError) {
        for case let name? in lines.map(\.origin) where !names.contains(name) {
            throw .scriptInvalid(
                "a fault is for the origin \"\(name)\"; there are \(names.joined(separator: ", "))")
        }
    }
}

extension FaultSyntax {
    /// How faults of an origin are written: names of subscriptions as tokens, as they are, and those of
    /// `WebPushRefusal` as reasons.
    static func webPush(_ profile: ServiceProfile) -> FaultSyntax {
        let answers = ServiceAnswers(profile: profile)
        return FaultSyntax(lowercasesTokens: false) { status, reason, _ in
            WebPushRefusal(rawValue: reason).map { answers.answer(to: $0, status: status) }
        }
    }
}
