import Essentials
import HTTPServer
import JSON
import RegistryCore

/// An error as Cognito Sync's clients expect it: a name in a header, and a message in the body (rest-json 1.1).
struct CognitoError: Error, Hashable {
    let status: Int
    /// The name, for example `InvalidParameterException`.
    let name: String
    let message: String

    static func invalidParameter(_ message: String) -> CognitoError {
        CognitoError(status: 400, name: "InvalidParameterException", message: message)
    }

    static func notFound(_ message: String) -> CognitoError {
        CognitoError(status: 404, name: "ResourceNotFoundException", message: message)
    }

    static func notAuthorized(_ message: String) -> CognitoError {
        CognitoError(status: 403, name: "NotAuthorizedException", message: message)
    }

    static func tooManyRequests(_ message: String) -> CognitoError {
        CognitoError(status: 429, name: "TooManyRequestsException", message: message)
    }

    static let internalError = CognitoError(
        status: 500, name: "InternalErrorException", message: "The registry could not be used. Try again.")

    /// The error of a request that no handler has read yet.
    static func ofStatus(_ status: Int, _ message: String) -> CognitoError {
        switch status {
        case 404, 405: CognitoError(status: status, name: "UnknownOperationException", message: message)
        case 413: CognitoError(status: status, name: "RequestEntityTooLargeException", message: message)
        case 429: tooManyRequests(message)
        case 503: CognitoError(status: status, name: "ServiceUnavailableException", message: message)
        case 500: internalError
        default: CognitoError(status: status, name: "InvalidParameterException", message: message)
        }
    }

    /// The client's answer to a failure of the registry.
    init(_ error: RegistryError) {
        switch error.code {
        case .notFound: self = .notFound(error.message)
        case .invalid: self = .invalidParameter(error.message)
        case .quotaExceeded: self = CognitoError(status: 400, name: "LimitExceededException", message: error.message)
        case .unavailable: self = .ofStatus(503, "The registry is busy. Try again.")
        case .readOnly, .corrupt, .newerSchema, .olderSchema, .failed: self = .internalError
        }
    }

    init(_ refusal: SignatureRefusal) {
        self.init(status: refusal.status, name: refusal.code.rawValue, message: refusal.message)
    }

    private init(status: Int, name: String, message: String) {
        self.status = status
        self.name = name
        self.message = message
    }

    /// The response, with when to try again if that is known.
    func response(retryAfterSeconds: Int? = nil) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("__type", name)
        writer.member("message", message)
        writer.endObject()
        var response = CognitoResponse.json(status, writer.bytes)
        response.fields.append(HTTPField("x-amzn-ErrorType", name))
        if let retryAfterSeconds { response.fields.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        return response
    }
}

/// The responses of the Cognito api.
enum CognitoResponse {
    /// A response with a JSON body and an identifier of its own, as Amazon's clients show it.
    static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse.content(status, type: "application/json", body)
        response.fields.append(HTTPField("x-amzn-RequestId", RandomIdentifier.uuid()))
        return response
    }
}
