internal import HTTPClient

/// The credentials of an account, with the way from them to access tokens.
public protocol AccessTokenCredentials: Hashable, Sendable {
    /// Fetches an access token; the calling thread waits, at most 15 seconds.
    ///
    /// - Returns: the token, or why there is none.
    func fetch() -> AccessTokenOutcome
}

/// Where access tokens are fetched, and how.
///
/// Any accidental print shows the URL alone, because that of a proxy may hold a password.
public struct TokenEndpoint: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Where they are fetched; empty for the account's own endpoint.
    public var url: String
    /// A PEM file with certificates to trust, for a simulator; empty for the system's.
    public var caFile: String
    /// The URL of the HTTP proxy to go through, a secret; empty for none.
    public var proxy: String

    /// Describes a way.
    public init(url: String = "", caFile: String = "", proxy: String = "") {
        self.url = url
        self.caFile = caFile
        self.proxy = proxy
    }

    /// Where they are fetched.
    public var description: String { url.isEmpty ? "the account's own endpoint" : url }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Posts a form to get an access token; the calling thread waits, at most 15 seconds.
    ///
    /// - Parameters:
    ///   - form: the names and values.
    ///   - accountURL: the account's own endpoint.
    ///   - secret: the value of the form that no reason may repeat.
    /// - Returns: the token, or why there is none.
    public func fetch(
        _ form: KeyValuePairs<String, String>, at accountURL: String, hiding secret: String
    ) -> AccessTokenOutcome {
        var client = HTTPClient()
        client.caFile = caFile
        client.proxy = proxy
        client.timeoutSeconds = 15
        client.bytesMaximum = AccessTokenOutcome.bodyBytesMaximum
        do throws(HTTPClient.Failure) {
            let answer = try client.post(url.isEmpty ? accountURL : url, form: form)
            return AccessTokenOutcome(
                status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds, hiding: secret)
        } catch {
            return .failed(
                AccessTokenFailure(reason: "the token endpoint gave no answer: \(error.description)", isRefusal: false))
        }
    }
}
