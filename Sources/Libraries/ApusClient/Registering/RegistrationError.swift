/// A request that the registry's API did not carry out.
public struct RegistrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Code: String, Hashable, Sendable {
        /// The request is not right: the app has to be corrected.
        case invalid
        /// The access token is unknown, also a fresh one.
        case unauthenticated
        /// The access token does not allow the operation.
        case forbidden
        /// Something else has to be removed first.
        case quotaExceeded = "quota-exceeded"
        /// There is no such thing, or it is another app's.
        case notFound = "not-found"
        /// The stored state does not allow the operation, for example a dataset of a device without an identity.
        case conflict
        /// The body is too large.
        case tooLarge = "too-large"
        /// The API asks for a pause.
        case tooManyRequests = "too-many-requests"
        /// The API could not carry it out, in none of the attempts.
        case serverFailed
        /// There was no answer, in none of the attempts.
        case unreachable
        /// The app's function for access tokens threw an error.
        case accessTokenMissing
    }

    /// The kind of error.
    public let code: Code
    /// The request, for example `PUT /v1/devices/phone-1`.
    public let request: String
    /// The status of the last answer; nil if there was none.
    public let status: Int?
    /// The message of the API, or the reason why there was no answer.
    public let detail: String
    /// When the API said to come again, in seconds from then; nil if it did not.
    public let retryAfterSeconds: Int?

    /// Request, status, kind and detail.
    public var description: String {
        "\(request): \(status.map { "\($0) " } ?? "")\(code.rawValue): \(detail)"
    }

    /// Whether the same request may succeed later.
    public var isTemporary: Bool {
        switch code {
        case .tooManyRequests, .serverFailed, .unreachable, .accessTokenMissing: true
        default: false
        }
    }
}
