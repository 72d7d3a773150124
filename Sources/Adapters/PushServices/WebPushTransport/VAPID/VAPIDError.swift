/// A key, a subject or an endpoint that cannot be used for VAPID (RFC 8292): the problem, the rule and the remedy.
public struct VAPIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The text holds no usable signing key.
        case keyInvalid
        /// The subject is none that every push service takes.
        case subjectInvalid
        /// The endpoint has no origin that a token could be made out to.
        case endpointInvalid
    }

    /// The kind of failure, for code.
    public let code: Code
    /// The problem, the rule and the remedy, for people; no part of a key, and of an endpoint at most the host.
    public let message: String

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
