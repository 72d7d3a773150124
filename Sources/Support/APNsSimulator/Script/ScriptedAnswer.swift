/// What the simulator says to one request.
struct ScriptedAnswer: Hashable, Sendable {
    /// The HTTP status.
    let status: Int
    /// The value of `reason`, or nil if the push is accepted.
    let reason: String?
    /// The value of `timestamp`: since when the device token is dead, in milliseconds since 1970.
    let timestampMilliseconds: Int64?

    init(status: Int, reason: String?, timestampMilliseconds: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestampMilliseconds = timestampMilliseconds
    }

    init(_ rejection: Rejection, timestampMilliseconds: Int64? = nil) {
        self.init(
            status: rejection.status, reason: rejection.rawValue, timestampMilliseconds: timestampMilliseconds)
    }

    static let accepted = ScriptedAnswer(status: 200, reason: nil)

    /// The body as APNs writes it; empty for an accepted push.
    var body: [UInt8] {
        guard let reason else { return [] }
        guard let timestampMilliseconds else { return Array("{\"reason\":\"\(reason)\"}".utf8) }
        return Array("{\"reason\":\"\(reason)\",\"timestamp\":\(timestampMilliseconds)}".utf8)
    }
}
