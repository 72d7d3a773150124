import JSON
public import PushServiceSimulator

/// How a request for an access token is answered on purpose.
public enum ADMTokenFault: Hashable, Sendable {
    /// With this status and body.
    case answer(status: Int, body: String = "", retryAfter: String? = nil)
    /// Never.
    case silence
}

/// The answers to the next requests for access tokens, one after the other.
///
/// A file has JSON objects, one a line, in the words of the faults of FCM's token endpoint. `times` is for how many
/// requests a fault lasts; without it, for all that follow:
///
///     {"fault":"answer","on":"oauth","status":503,"retry_after":"20","times":2}
///     {"fault":"silence","on":"oauth","times":1}
public struct ADMTokenFaults: Sendable {
    private struct Entry {
        let fault: ADMTokenFault
        /// How many requests it is for; nil for all that follow.
        var times: Int?
    }

    private static let names: [StaticString] = ["fault", "on", "status", "body", "retry_after", "times"]

    private var entries: [Entry] = []

    /// An endpoint that behaves.
    public static let none = ADMTokenFaults([])

    /// Creates faults of one request each.
    public init(_ faults: [ADMTokenFault]) { entries = faults.map { Entry(fault: $0, times: 1) } }

    /// Reads faults.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) {
        var entries: [Entry] = []
        try ScriptLines.read(bytes, of: "faults") { line throws(SimulatorError) in
            entries.append(try Self.entry(line))
        }
        self.entries = entries
    }

    /// Adds others, for the requests after those of the present ones.
    mutating func add(_ faults: ADMTokenFaults) { entries += faults.entries }

    /// Takes the fault of the next request; nil if there is none.
    mutating func next() -> ADMTokenFault? {
        guard let entry = entries.first else { return nil }
        if let times = entry.times {
            if times > 1 { entries[0].times = times - 1 } else { entries.removeFirst() }
        }
        return entry.fault
    }

    private static func entry(_ line: [UInt8]) throws(SimulatorError) -> Entry {
        let object = try JSONObject.line(line)
        if let unknown = object.firstMember(notAmong: names) {
            let names = names.map { "\($0)" }.joined(separator: ", ")
            throw .scriptInvalid("\"\(unknown.key.prefix(32))\" is unknown; a fault has \(names)")
        }
        guard object["on"]?.string == "oauth" else {
            throw .scriptInvalid(
                "\"on\" has to be \"oauth\": a fault is for access tokens, and the script for messages")
        }
        let times = try object.times()
        switch object["fault"]?.string {
        case "silence": return Entry(fault: .silence, times: times)
        case "answer":
            guard let status = try object.integer("status", 200...599) else {
                throw .scriptInvalid("\"fault\":\"answer\" needs \"status\", from 200 to 599")
            }
            let body = object["body"]?.string ?? ""
            return Entry(fault: .answer(status: status, body: body, retryAfter: object.retryAfter), times: times)
        default: throw .scriptInvalid("\"fault\" has to be \"answer\" or \"silence\"")
        }
    }
}
