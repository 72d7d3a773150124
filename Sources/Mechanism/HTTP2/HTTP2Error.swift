/// A request to an HTTP/2 connection cannot be carried out.
public struct HTTP2Error: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for code.
    public enum Code: Sendable, Hashable {
        /// The handshake and the exchange of settings are not complete yet.
        case notReady
        /// The connection is closed or closing.
        case closed
        /// One side has announced by GOAWAY that it takes no new streams.
        case goingAway
        /// The stream has ended, was never opened, or has its answer already.
        case streamUnknown
        /// All stream identifiers of the connection are used up; open another connection.
        case streamsExhausted
        /// More streams are open or queued than the configuration allows.
        case streamsTooMany
        /// TLS cannot be prepared, for example for an impossible server name.
        case tlsFailed
        /// nghttp2 refused the call.
        case libraryFailed
    }

    /// The kind of failure, for code.
    public let code: Code
    /// The problem, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
