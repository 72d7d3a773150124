internal import Essentials

/// The three ways in which a POST ends; they are never lumped together.
public enum PostOutcome: Sendable {
    /// The server answered.
    case answered(PostAnswer)
    /// No byte of the body was handed to a connection: sending it again cannot make a duplicate.
    case notSent(PostFailure)
    /// It was sent, at least in part, and the answer did not come: it may have been processed.
    case ambiguous(PostFailure)
}

/// The answer to a POST.
public struct PostAnswer: Sendable {
    /// How much of a body is kept, in bytes; of a longer one the rest is not read.
    public static let bodyBytesMaximum = 64 * 1_024

    /// The final status; redirects are not followed.
    public internal(set) var status = 0
    /// The header fields that the client keeps, names in lower case, in their order.
    public internal(set) var fields: [(name: String, value: String)] = []
    /// The body, or its beginning if the connection was lost, the time was over, or it is too long.
    public internal(set) var body: [UInt8] = []
    /// Whether a connection was made for it.
    public internal(set) var isOnNewConnection = false

    /// The first value of a header field, whose name is given in lower case.
    public func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The header `retry-after` in seconds from now.
    ///
    /// - Parameter nowSeconds: this machine's time, in seconds since 1970; used if the answer has no header `date`.
    /// - Returns: 0 or more; nil if there is none that can be read.
    public func retryAfterSeconds(nowSeconds: Int64) -> Int? {
        field("retry-after").flatMap { RetryAfter.seconds($0, date: field("date"), nowSeconds: nowSeconds) }
    }
}

/// Why there is no answer.
public struct PostFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Kind: Hashable, Sendable {
        /// The request cannot be sent as it stands.
        case requestInvalid
        /// The name of the host, or of the proxy, was not found.
        case nameUnresolved
        /// No connection was made, or the proxy gave no tunnel.
        case unreachable
        /// No TLS with the server.
        case tls
        /// The certificate is not trusted, or another's.
        case certificateRejected
        /// The time was over.
        case timedOut
        /// The connection ended before the answer.
        case connectionLost
        /// The client was closed.
        case closed
    }

    /// The kind.
    public let kind: Kind
    /// The problem, without a word of path, header fields or body.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// Reads the header `retry-after`: seconds, or a date (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// No server means more than a year.
    private static let secondsMaximum: Int64 = 366 * 86_400

    /// The seconds that a value means.
    ///
    /// - Parameters:
    ///   - value: the header's value.
    ///   - date: the header `date` of the same answer. A date counts from there, because the two come from one clock.
    ///   - nowSeconds: the time of this machine, in seconds since 1970, in place of a `date`.
    /// - Returns: 0 or more, at most a year; nil if the value is of neither form, or a date that has passed. Such a
    ///   date tells of wrong clocks and not of a wait.
    static func seconds(_ value: String, date: String?, nowSeconds: Int64) -> Int? {
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            return Int(min(secondsMaximum, Int64(value) ?? secondsMaximum))
        }
        guard let then = HTTPDate.seconds(value) else { return nil }
        let (left, overflows) = then.subtractingReportingOverflow(date.flatMap(HTTPDate.seconds) ?? nowSeconds)
        return overflows || left <= 0 ? nil : Int(min(left, secondsMaximum))
    }
}
