internal import Crypto
internal import HTTP2

/// What an operator can do about a connection that cannot be made.
enum ConnectionHint {
    static let reachability = "check endpoint, and that the firewall lets port 443 (or 2197) out"

    static func resolution(isOfProxy: Bool) -> String {
        "check the name in \(isOfProxy ? "proxy" : "endpoint"), and the machine's resolver"
    }

    static func hint(for reason: HTTP2CloseReason) -> String? {
        switch reason {
        case .noHTTP2: "check that endpoint names an APNs host and that no proxy between rewrites TLS"
        case .protocolViolation: "check that endpoint names an APNs host; what answered does not speak HTTP/2"
        case .tls: "check endpoint and ca_file, and that no proxy between rewrites TLS"
        case .peerClosed, .transport: reachability
        case .local: nil
        }
    }

    /// Whether only a correction of the configuration, or of the peer, makes the next attempt succeed.
    static func isEndpointUnusable(_ reason: HTTP2CloseReason) -> Bool {
        switch reason {
        case .tls(let error): error.code == .certificateRejected || error.code == .protocolMissing
        case .noHTTP2: true
        case .local, .peerClosed, .transport, .protocolViolation: false
        }
    }
}
