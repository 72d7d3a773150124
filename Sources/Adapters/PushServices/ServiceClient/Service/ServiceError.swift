internal import Crypto
internal import HTTP2

/// A failure to set up the client of a push service: the problem, its location and the remedy.
public struct ServiceError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Hashable, Sendable {
        /// The file of the signing key cannot be read.
        case keyUnreadable
        /// The file holds no usable key.
        case keyInvalid
        /// An identifier is not what the push service gives out.
        case identifierInvalid
        /// A route's endpoint or trust anchor is unusable.
        case routeInvalid
        /// The URL of a proxy is unusable.
        case proxyInvalid
        /// The operating system gave no thread or no descriptor.
        case systemFailed
        /// A connection could not be made.
        case connectFailed
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// The advice for an operator whose connection fails.
enum ConnectionHint {
    static let noAdmittedAddress = (
        reason: "no address of the name may be connected to",
        advice: "allow the host or its addresses, if they are meant"
    )
    static let reachability = "check endpoint, and that the firewall lets its port out"

    static func resolution(isOfProxy: Bool) -> String {
        "check the name in \(isOfProxy ? "proxy" : "endpoint"), and the machine's resolver"
    }

    static func hint(for reason: HTTP2CloseReason) -> String? {
        switch reason {
        case .noHTTP2: "check that endpoint names a host of the push service and that no proxy between rewrites TLS"
        case .protocolViolation:
            "check that endpoint names a host of the push service; what answered does not speak HTTP/2"
        case .tls: "check endpoint and ca_file, and that no proxy between rewrites TLS"
        case .peerClosed, .transport: reachability
        case .local: nil
        }
    }

    /// Whether the peer answered, and does not negotiate HTTP/2 (ALPN, RFC 7301).
    static func lacksHTTP2(_ reason: HTTP2CloseReason) -> Bool {
        switch reason {
        case .tls(let error): error.code == .applicationProtocolMissing
        case .noHTTP2: true
        case .local, .peerClosed, .transport, .protocolViolation: false
        }
    }

    /// Whether only a correction of the configuration, or of the peer, makes the next attempt succeed.
    static func isEndpointUnusable(_ reason: HTTP2CloseReason) -> Bool {
        switch reason {
        case .tls(let error):
            [.certificateRejected, .protocolMissing, .applicationProtocolMissing].contains(error.code)
        case .noHTTP2: true
        case .local, .peerClosed, .transport, .protocolViolation: false
        }
    }
}
