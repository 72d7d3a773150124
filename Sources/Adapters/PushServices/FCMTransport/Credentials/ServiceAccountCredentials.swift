internal import Crypto
internal import EventLoop
public import ServiceClient

/// A service account, and the way from it to access tokens.
///
/// Any accidental print shows where the account is, never its key.
public struct ServiceAccountCredentials: AccessTokenCredentials, CustomStringConvertible, CustomReflectable {
    /// Where the account's JSON is.
    public enum Content: Hashable, Sendable {
        /// A file.
        ///
        /// It is read for every fetch, so a new key in it is used within the hour, and at once when Google refuses the
        /// old one.
        case file(String)
        /// In memory.
        case json([UInt8])
    }

    /// Where the account's JSON is.
    public var content: Content
    /// Where access tokens are fetched.
    public var endpoint: TokenEndpoint

    /// Describes an account.
    public init(_ content: Content, endpoint: TokenEndpoint = TokenEndpoint()) {
        self.content = content
        self.endpoint = endpoint
    }

    /// Where the account is.
    public var description: String {
        switch content {
        case .file(let path): "the service account in \(path)"
        case .json: "a service account"
        }
    }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Reads the account.
    ///
    /// - Throws: `ServiceError` with `keyUnreadable` as `CredentialFile`, `keyInvalid` if the JSON describes no usable
    ///   account.
    public func account() throws(ServiceError) -> ServiceAccount {
        switch content {
        case .json(let bytes): return try ServiceAccount(json: bytes)
        case .file(let path):
            let file = try CredentialFile(path: path, expected: "the JSON file of a service account")
            do throws(ServiceError) {
                return try ServiceAccount(json: file.bytes)
            } catch {
                throw ServiceError(.keyInvalid, "\(path): \(error.message)")
            }
        }
    }

    /// Signs an assertion, and exchanges it for an access token; the calling thread waits, at most 15 seconds.
    ///
    /// - Returns: the token, or why there is none.
    public func fetch() -> AccessTokenOutcome {
        do {
            let account = try account()
            let assertion = try ServiceAccountAssertion(account, nowSeconds: WallClock.nowMilliseconds() / 1_000).text
            return endpoint.fetch(
                ["grant_type": ServiceAccountAssertion.grantType, "assertion": assertion], at: account.tokenURL,
                hiding: assertion)
        } catch let error as ServiceError {
            // An operator has to put another file there, so it is a refusal.
            return .failed(AccessTokenFailure(reason: error.message, isRefusal: true))
        } catch {
            return .failed(AccessTokenFailure(reason: "\(error)", isRefusal: false))
        }
    }
}
