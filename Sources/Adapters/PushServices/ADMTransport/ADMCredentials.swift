public import Essentials
internal import HTTPClient
public import ServiceClient

/// The client credentials of an app's security profile, as Amazon's developer console shows them, and the way from them
/// to access tokens.
///
/// Any accidental print (interpolation, `dump`, a debugger's summary) shows the client identifier, never the secret.
public struct ADMCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Where Amazon gives access tokens out (Amazon, "Request an Access Token", ADM).
    public static let defaultTokenURL = "https://api.amazon.com/auth/O2/token"

    /// The client identifier, for example `amzn1.application-oa2-client.…`.
    public let clientID: String
    private let clientSecret: String
    /// Where access tokens are fetched.
    public var tokenURL: String
    /// A PEM file with certificates to trust, for a simulator; empty for the system's.
    public var caFile: String
    private let proxy: String

    /// Wraps credentials.
    ///
    /// - Parameters:
    ///   - clientID: the client identifier.
    ///   - clientSecret: the client secret.
    ///   - tokenURL: where access tokens are fetched; empty for Amazon's.
    ///   - caFile: a PEM file with certificates to trust; empty for the system's.
    ///   - proxy: the URL of the HTTP proxy to go through, a secret; empty for none.
    public init(
        clientID: String, clientSecret: String, tokenURL: String = "", caFile: String = "", proxy: String = ""
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.tokenURL = tokenURL.isEmpty ? Self.defaultTokenURL : tokenURL
        self.caFile = caFile
        self.proxy = proxy
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
        var client = HTTPClient()
        client.caFile = caFile
        client.proxy = proxy
        client.timeoutSeconds = 15
        client.bytesMaximum = AccessTokenOutcome.bodyBytesMaximum
        do throws(HTTPClient.Failure) {
            let answer = try client.post(
                tokenURL,
                form: [
                    "grant_type": "client_credentials", "scope": "messaging:push", "client_id": clientID,
                    "client_secret": clientSecret,
                ])
            return AccessTokenOutcome(
                status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds,
                hiding: clientSecret)
        } catch {
            return .failed(
                AccessTokenFailure(reason: "the token endpoint gave no answer: \(error.description)", isRefusal: false))
        }
    }
}

extension AccessTokenSource {
    /// Creates the source of an app's access tokens; it fetches nothing before a token is needed.
    ///
    /// - Parameters:
    ///   - credentials: the app's credentials.
    ///   - clock: as for `init(clock:ended:fetch:)`.
    ///   - ended: takes the outcome of each fetch, for metrics and logs.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public convenience init(
        credentials: ADMCredentials,
        clock: @escaping @Sendable () -> MonotonicTime = AccessTokenSource.systemClock,
        ended: @escaping @Sendable (AccessTokenOutcome) -> Void = { _ in }
    ) throws(ServiceError) {
        try self.init(clock: clock, ended: ended) { credentials.fetch() }
    }
}
