public import ServiceClient

/// The client credentials of an app's security profile, as Amazon's developer console shows them, and the way from them
/// to access tokens.
///
/// Any accidental print (interpolation, `dump`, a debugger's summary) shows the client identifier, never the secret.
public struct ADMCredentials: AccessTokenCredentials, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Where Amazon gives access tokens out (Amazon, "Request an Access Token", ADM).
    static let amazonTokenURL = "https://api.amazon.com/auth/O2/token"

    /// The client identifier, for example `amzn1.application-oa2-client.…`.
    public let clientID: String
    private let clientSecret: String
    private let endpoint: TokenEndpoint

    /// Wraps credentials.
    ///
    /// - Parameters:
    ///   - clientID: the client identifier.
    ///   - clientSecret: the client secret.
    ///   - endpoint: where access tokens are fetched, Amazon's if it does not say.
    public init(clientID: String, clientSecret: String, endpoint: TokenEndpoint = TokenEndpoint()) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.endpoint = endpoint
    }

    /// The client identifier.
    public var description: String { clientID }
    /// The client identifier.
    public var debugDescription: String { clientID }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Fetches an access token; the calling thread waits, at most 15 seconds.
    ///
    /// The form is that of Amazon's page. An answer has `access_token`, `expires_in` (3600), `scope` and `token_type`;
    /// of refusals uniqush-push reads `error` and `error_description`, as RFC 6749 has them.
    ///
    /// - Returns: the token, or why there is none.
    public func fetch() -> AccessTokenOutcome {
        endpoint.fetch(
            [
                "grant_type": "client_credentials", "scope": "messaging:push", "client_id": clientID,
                "client_secret": clientSecret,
            ], at: Self.amazonTokenURL, hiding: clientSecret)
    }
}
