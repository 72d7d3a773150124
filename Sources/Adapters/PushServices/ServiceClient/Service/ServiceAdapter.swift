public import HTTP2
public import Notifications

/// One push service, as the client sees it: how a request is written, and what an answer means.
///
/// Each pool of connections has an adapter of its own, which lives on the client's loop and may keep memory from
/// request to request.
public protocol ServiceAdapter: AnyObject {
    /// The statuses that mean that the service has the push.
    var acceptedStatuses: ClosedRange<Int> { get }

    /// Whether the peer binds a connection to the first authorization that it sees, so that a new key needs new
    /// connections.
    var bindsConnections: Bool { get }

    /// The size of the request's body, which has to fit into a connection's flow-control window.
    func bodyBytes(of request: borrowing PushRequest) -> Int

    /// Submits the request of a push.
    ///
    /// - Parameters:
    ///   - request: the push.
    ///   - authorization: the value of the header `authorization`.
    ///   - sent: the adapter's notes about the connection from earlier requests; updated.
    ///   - connection: the connection, which has a free stream.
    /// - Returns: the stream.
    /// - Throws: `HTTP2Error` if the connection takes no request.
    func submit(
        _ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields,
        on connection: HTTP2Connection
    ) throws(HTTP2Error) -> Int32

    /// The name that the service gave to an accepted push.
    ///
    /// - Parameter body: the body of the answer, at most `PartialAnswer.bodyBytesMaximum` bytes.
    /// - Returns: the name; nil if the service gives none, or the adapter was not told to read it.
    func messageName(in body: [UInt8]) -> String?

    /// Reads an answer whose status is none of the accepted ones.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `PartialAnswer.bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the header `retry-after`.
    /// - Returns: the answer.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer

    /// Returns the meaning of an answer for its connection, its authorization and its device token.
    func meaning(of answer: PushAnswer) -> AnswerMeaning

    /// The reason in the debug data of a GOAWAY; empty if there is none.
    func reason(inGoAway debugData: [UInt8]) -> String

    /// Gives back the memory that is kept from request to request: no push is out.
    func releaseMemory()
}

extension ServiceAdapter {
    /// Reads nothing: for a service that gives no names.
    public func messageName(in body: [UInt8]) -> String? { nil }
}

/// The adapter's notes about a connection, a bit each: the header fields in its table (HPACK, RFC 7541).
public struct SentFields: OptionSet, Sendable {
    /// The bits, whose meaning is the adapter's.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The meaning of an answer beside the outcome of its push.
public struct AnswerMeaning: OptionSet, Sendable {
    /// The authorization was refused, so it is not known whether the peer takes any other push.
    public static let authorizationRefused = AnswerMeaning(rawValue: 1)
    /// The authorization has expired; a new one may be accepted.
    public static let authorizationExpired = AnswerMeaning(rawValue: 2)
    /// The push was refused because of what the connection carried before, so a new connection may be needed.
    public static let connectionWedged = AnswerMeaning(rawValue: 4)
    /// The server is shutting down, and did not look at the push.
    public static let shutdownAnnounced = AnswerMeaning(rawValue: 8)
    /// The fault may be the connection's, or of the server behind it: another may fare better.
    public static let connectionSuspect = AnswerMeaning(rawValue: 16)
    /// The device token is to blame, so that the next push to it will likely be rejected, too.
    public static let tokenBlamed = AnswerMeaning(rawValue: 32)

    /// The connection is not for this origin, so the server did not look at the push; another may be (RFC 9110 section
    /// 15.5.20).
    public static let misdirected = AnswerMeaning(rawValue: 64)

    /// Returns the meaning of a status by HTTP itself, for every service.
    static func ofHTTP(_ status: Int) -> AnswerMeaning { status == 421 ? .misdirected : [] }

    /// A bit for each statement.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}
