/// What the scripted peer has seen.
struct PeerFacts: Sendable {
    var connectionCount = 0
    var openConnectionCount = 0
    var requestCount = 0
    /// The most requests that were unanswered on one connection.
    var openMaximum = 0
    /// The same, before the connection's first answer.
    var openBeforeFirstAnswerMaximum = 0
    var authorizations: Set<String> = []
    /// The error codes of streams that were reset, by either side.
    var resetCodes: [UInt32] = []
}
