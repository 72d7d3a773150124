/// The counts of a loop that all push services have.
public struct ServingCounts: Sendable, Equatable {
    /// Requests that were left without an answer.
    public var silent = 0
    /// Requests that were served and whose answer was lost on purpose.
    public var lostAnswers = 0
    /// Requests that the client gave up before they were answered.
    public var abandoned = 0
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that were turned away because there were too many.
    public var connectionsRefused = 0
    /// Connections that ended before HTTP/2 began: no TLS, no `h2`, a certificate that was not trusted.
    public var connectionsFailed = 0
    /// Connections that were closed for breaking the rules of HTTP/2, too many streams among them.
    public var protocolViolations = 0
    /// The most requests that were open at once on one connection.
    public var concurrentStreamsMaximum = 0
    /// The most requests that were open at once on a connection whose sender had not shown who it is.
    public var unauthenticatedStreamsMaximum = 0

    /// Begins with none.
    public init() {}

    /// Adds what another loop counted.
    public mutating func add(_ other: ServingCounts) {
        silent += other.silent
        lostAnswers += other.lostAnswers
        abandoned += other.abandoned
        connections += other.connections
        connectionsRefused += other.connectionsRefused
        connectionsFailed += other.connectionsFailed
        protocolViolations += other.protocolViolations
        concurrentStreamsMaximum = max(concurrentStreamsMaximum, other.concurrentStreamsMaximum)
        unauthenticatedStreamsMaximum = max(unauthenticatedStreamsMaximum, other.unauthenticatedStreamsMaximum)
    }
}
