import PushServiceSimulator

/// Why Google's token endpoint refuses an access token: the answers that were seen, each with its name.
///
/// Sources: Google, "Using OAuth 2.0 for server to server applications" and the issues MihaelIsaev/FCM 19,
/// google-cloud-python 10004 and gsheets 96 for the texts of `invalid_grant`; google-auth-library-python for
/// `internal_failure`. The other texts are from memory of such answers.
enum TokenRefusal: String, CaseIterable, Error {
    /// The clocks differ, or the assertion lives for more than an hour.
    case badTime = "invalid_jwt_time"
    /// The key was revoked, or is another's.
    case badSignature = "invalid_jwt_signature"
    /// The account was deleted.
    case accountNotFound = "account_not_found"
    /// The assertion is made out to another endpoint.
    case badAudience = "invalid_jwt_audience"
    /// The assertion is no JSON Web Token, or lacks a claim.
    case malformed = "invalid_jwt"
    /// No scope, or none of Google's.
    case invalidScope = "invalid_scope"
    /// The request has another grant type.
    case unsupportedGrantType = "unsupported_grant_type"
    /// The request is no form, or has no assertion.
    case invalidRequest = "invalid_request"
    /// The account may not have access tokens.
    case unauthorizedClient = "unauthorized_client"
    /// The account is switched off.
    case disabledClient = "disabled_client"
    /// Google failed; to be tried again.
    case internalFailure = "internal_failure"

    private var answer: (status: Int, error: String, description: String) {
        switch self {
        case .badTime:
            (
                400, "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim."
            )
        case .badSignature: (400, "invalid_grant", "Invalid JWT Signature.")
        case .accountNotFound: (400, "invalid_grant", "Invalid grant: account not found")
        case .badAudience:
            (
                400, "invalid_grant",
                "Invalid JWT: Failed audience check. The right audience is https://oauth2.googleapis.com/token"
            )
        case .malformed: (400, "invalid_grant", "Invalid JWT: Failed to parse the assertion.")
        case .invalidScope: (400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        case .unsupportedGrantType: (400, "unsupported_grant_type", "Invalid grant_type")
        case .invalidRequest: (400, "invalid_request", "Missing or malformed parameter")
        case .unauthorizedClient:
            (
                401, "unauthorized_client",
                "Client is unauthorized to retrieve access tokens using this method, or client not authorized for "
                    + "any of the scopes requested."
            )
        case .disabledClient: (401, "disabled_client", "The OAuth client was disabled.")
        case .internalFailure: (500, "internal_failure", "Backend Error")
        }
    }

    /// The answer, with another status than the usual one for a fault.
    func answer(status: Int? = nil) -> ServiceAnswer {
        let (usual, error, description) = answer
        let body = GoogleJSON(["error": error, "error_description": description]).body
        return .json(status: status ?? usual, reason: rawValue, body)
    }
}
