import HTTPServer
import JSON
import RegistryCore

/// An error of the native API, as problem details (RFC 9457) with a code for programs.
struct NativeProblem: Error, Hashable {
    /// The kind of the problem, for programs.
    enum Code: String, CaseIterable {
        case invalid
        case unauthenticated
        case forbidden
        case notFound = "not-found"
        case methodNotAllowed = "method-not-allowed"
        case conflict
        case preconditionFailed = "precondition-failed"
        case quotaExceeded = "quota-exceeded"
        case tooLarge = "too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case tooManyRequests = "too-many-requests"
        case failed
        case busy
    }

    let code: Code
    /// The HTTP status.
    let status: Int
    /// The problem and the remedy, for people.
    let detail: String
    /// In how many seconds to try again; there wherever it makes sense to.
    let retryAfterSeconds: Int?

    init(_ code: Code, _ detail: String, retryAfterSeconds: Int? = nil) {
        self.init(code, status: Self.statuses[code] ?? 500, detail, retryAfterSeconds: retryAfterSeconds)
    }

    private init(_ code: Code, status: Int, _ detail: String, retryAfterSeconds: Int?) {
        self.code = code
        self.status = status
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds ?? ([.busy, .tooManyRequests].contains(code) ? 1 : nil)
    }

    /// The client's answer to a failure of the registry.
    init(_ error: RegistryError) {
        switch error.code {
        case .notFound: self.init(.notFound, error.message)
        case .invalid: self.init(error == .deviceOfAnotherApp ? .conflict : .invalid, error.message)
        case .quotaExceeded: self.init(.quotaExceeded, error.message)
        case .unavailable: self.init(.busy, "The registry is busy. Try again.", retryAfterSeconds: 1)
        case .readOnly, .corrupt, .newerSchema, .olderSchema, .failed:
            self.init(.failed, "The registry could not be used. Its operator finds the reason in the log.")
        }
    }

    /// The client's answer to a token that is not sufficient.
    init(_ refusal: TokenRefusal) {
        switch refusal {
        case .unknown:
            self.init(.unauthenticated, "A token is needed that the registry knows: Authorization: Bearer TOKEN.")
        case .unknownTooOften(let seconds):
            self.init(
                .tooManyRequests, "Too many requests from this address could not be authenticated.",
                retryAfterSeconds: seconds)
        case .tooMany(let seconds):
            self.init(.tooManyRequests, "This token makes too many requests.", retryAfterSeconds: seconds)
        case .insufficient(let needed):
            self.init(.forbidden, "The token does not have the permission to \(needed.rawValue).")
        case .failed(let error): self.init(error)
        }
    }

    /// The error of a request that no handler has read yet; a status without a code of its own is `invalid`.
    init(status: Int, _ message: String, retryAfterSeconds: Int? = nil) {
        let code = Self.statuses.first { $0.value == status && $0.key != .quotaExceeded }?.key ?? .invalid
        self.init(code, status: status, message, retryAfterSeconds: retryAfterSeconds)
    }

    private static let statuses: [Code: Int] = [
        .invalid: 400, .unauthenticated: 401, .forbidden: 403, .notFound: 404, .methodNotAllowed: 405, .conflict: 409,
        .preconditionFailed: 412,
        .quotaExceeded: 403, .tooLarge: 413, .unsupportedMediaType: 415, .tooManyRequests: 429, .failed: 500,
        .busy: 503,
    ]

    /// The response.
    var response: HTTPResponse { response { _ in } }

    /// The response with further members.
    func response(further write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", status)
        writer.member("code", code.rawValue)
        writer.member("detail", detail)
        write(&writer)
        writer.endObject()
        var response = HTTPResponse.content(status, type: "application/problem+json", writer.bytes)
        if let retryAfterSeconds { response.fields.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        if code == .unauthenticated { response.fields.append(HTTPField("WWW-Authenticate", "Bearer")) }
        return response
    }
}
