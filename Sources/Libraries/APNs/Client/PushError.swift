internal import APNsTransport
import Notifications
internal import ServiceClient

/// An error that the program has to correct before a push can be sent: the problem, its location and the remedy.
public struct PushError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of mistake.
    public enum Code: Hashable, Sendable {
        /// The signing key cannot be read, or is none.
        case keyInvalid
        /// A configuration cannot be used: an identifier, an endpoint, a proxy, a trust anchor.
        case configurationInvalid
        /// There is no configuration of that name.
        case configurationUnknown
        /// The message breaks a rule of APNs that can be seen before sending.
        case messageInvalid
        /// The text or the bytes are no device token.
        case tokenInvalid
        /// The operating system gave no thread or no descriptor.
        case systemFailed
    }

    /// The kind of mistake.
    public let code: Code
    /// The problem, its location and the remedy; without secrets and without whole device tokens.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension PushError {
    init(_ error: ServiceError) {
        switch error.code {
        case .keyUnreadable, .keyInvalid: self.init(.keyInvalid, error.message)
        case .identifierInvalid, .routeInvalid, .proxyInvalid: self.init(.configurationInvalid, error.message)
        case .systemFailed, .connectFailed: self.init(.systemFailed, error.message)
        }
    }

    init(_ rejection: EventRejection) { self.init(.messageInvalid, rejection.message) }
}
