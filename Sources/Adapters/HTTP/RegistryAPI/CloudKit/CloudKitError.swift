import Essentials
import HTTPServer
import JSON
import RegistryCore

/// An error as CloudKit Web Services tells it ("Error Codes", CloudKit Web Services Reference): of a whole request, or
/// of one subscription in it.
struct CloudKitError: Error, Hashable {
    /// The names that clients know.
    enum Code: String {
        case accessDenied = "ACCESS_DENIED"
        case authenticationFailed = "AUTHENTICATION_FAILED"
        case authenticationRequired = "AUTHENTICATION_REQUIRED"
        case badRequest = "BAD_REQUEST"
        case exists = "EXISTS"
        case internalError = "INTERNAL_ERROR"
        case notFound = "NOT_FOUND"
        case quotaExceeded = "QUOTA_EXCEEDED"
        case throttled = "THROTTLED"
        case tryAgainLater = "TRY_AGAIN_LATER"

        /// The status of a request that fails so.
        var status: Int {
            switch self {
            case .accessDenied: 403
            case .authenticationFailed: 401
            case .authenticationRequired: 421
            case .badRequest: 400
            case .exists: 409
            case .internalError: 500
            case .notFound: 404
            case .quotaExceeded: 413
            case .throttled: 429
            case .tryAgainLater: 503
            }
        }
    }

    let code: Code
    /// The problem, for people.
    let reason: String
    var retryAfterSeconds: Int?
    /// The subscription that the error is about.
    var subscriptionID: String?

    init(_ code: Code, _ reason: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The client's answer to a failure of the registry.
    init(_ error: RegistryError) {
        switch error.code {
        case .notFound: self.init(.notFound, error.message)
        case .invalid: self.init(.badRequest, error.message)
        case .quotaExceeded: self.init(.quotaExceeded, error.message)
        case .unavailable: self.init(.tryAgainLater, "The registry is busy.", retryAfterSeconds: 1)
        case .readOnly, .corrupt, .newerSchema, .olderSchema, .failed:
            self.init(.internalError, "The registry could not be used.")
        }
    }

    /// The client's answer to a token that is not sufficient.
    init(_ refusal: TokenRefusal) {
        switch refusal {
        case .unknown:
            self.init(.authenticationFailed, "A token is needed that the registry knows, as ckAPIToken.")
        case .unknownTooOften(let seconds), .tooMany(let seconds):
            self.init(.throttled, "Too many requests.", retryAfterSeconds: seconds)
        case .insufficient(let needed):
            self.init(.accessDenied, "The token does not have the permission to \(needed.rawValue).")
        case .failed(let error): self.init(error)
        }
    }

    /// The error of a request that no handler has read yet.
    init(status: Int, _ reason: String) {
        let codes: [Int: Code] = [
            404: .notFound, 413: .quotaExceeded, 429: .throttled, 500: .internalError, 503: .tryAgainLater,
        ]
        self.init(codes[status] ?? .badRequest, reason)
    }

    /// The error of one subscription among others.
    func about(_ subscriptionID: String?) -> CloudKitError {
        var error = self
        error.subscriptionID = subscriptionID
        return error
    }

    /// Writes the error as an object.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let subscriptionID {
            writer.member("subscriptionID", subscriptionID)
        } else {
            writer.member("uuid", RandomIdentifier.uuid())
        }
        writer.member("serverErrorCode", code.rawValue)
        writer.member("reason", reason)
        writer.member("retryAfter", retryAfterSeconds)
        writer.endObject()
    }

    /// The response to a request that fails as a whole.
    func response(status: Int? = nil) -> HTTPResponse {
        var writer = JSONWriter()
        write(to: &writer)
        var response = HTTPResponse.content(status ?? code.status, type: "application/json", writer.bytes)
        if let retryAfterSeconds { response.fields.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        return response
    }
}
