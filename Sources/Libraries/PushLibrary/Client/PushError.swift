package import Notifications
package import ServiceClient

/// An error that the program has to correct before a push can be sent: the problem, its location and the remedy.
public struct PushError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of mistake.
    public enum Code: Hashable, Sendable {
        /// The signing key, or the service account, cannot be read, or is none.
        case keyInvalid
        /// A configuration cannot be used: an identifier, an endpoint, a proxy, a trust anchor.
        case configurationInvalid
        /// There is no configuration of that name.
        case configurationUnknown
        /// The message breaks a rule of the push service that can be seen before sending.
        case messageInvalid
        /// The text or the bytes are no device token, or no subscription of a browser.
        case tokenInvalid
        /// The operating system gave no thread or no descriptor.
        case systemFailed
    }

    /// The kind of mistake.
    public let code: Code
    /// The problem, its location and the remedy; without secrets and without whole device tokens.
    public let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension PushError {
    /// Takes over an error of the transport.
    package init(_ error: ServiceError) {
        switch error.code {
        case .keyUnreadable, .keyInvalid: self.init(.keyInvalid, error.message)
        case .identifierInvalid, .routeInvalid, .proxyInvalid: self.init(.configurationInvalid, error.message)
        case .systemFailed, .connectFailed: self.init(.systemFailed, error.message)
        }
    }

    /// Takes over what a builder of contents refuses.
    package init(_ rejection: EventRejection) { self.init(.messageInvalid, rejection.message) }
}

/// A push that got no answer; always temporary.
public enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The push service certainly has not seen it: sending it again cannot make a duplicate. With the reason.
    case notProcessed(String)
    /// The push service may or may not have the push: the answer did not come in time, or the connection was lost.
    ///
    /// Sending the same message again may make a duplicate. Of APNs it bears the same `apns-id`; at each service a
    /// later message with the same collapse identifier, collapse key or topic replaces the first. With the reason.
    case ambiguous(String)

    /// The reason.
    public var description: String {
        switch self {
        case .notProcessed(let reason): "not processed: \(reason)"
        case .ambiguous(let reason): "perhaps processed: \(reason)"
        }
    }
}
