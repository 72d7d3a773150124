import Crypto
public import Essentials
internal import EventLoop
internal import HTTPClient
public import ServiceClient

/// The file of a service account, and the way from it to access tokens.
///
/// The file is read for every fetch, so a new key in it is used within the hour, and at once when Google refuses the
/// old one.
public struct ServiceAccountFile: Hashable, Sendable {
    /// The file.
    public var path: String
    /// Where access tokens are fetched.
    public var endpoint: TokenEndpoint

    /// Names a file.
    public init(path: String, tokenURL: String = "", caFile: String = "", proxy: String = "") {
        self.path = path
        endpoint = TokenEndpoint(url: tokenURL, caFile: caFile, proxy: proxy)
    }

    /// Reads the file.
    ///
    /// - Throws: `ServiceError` with `keyUnreadable` as `CredentialFile`, `keyInvalid` if it describes no
    ///   usable account.
    public func account() throws(ServiceError) -> ServiceAccount {
        let file = try CredentialFile(path: path, expected: "the JSON file of a service account")
        do throws(ServiceError) {
            return try ServiceAccount(json: file.bytes)
        } catch {
            throw ServiceError(.keyInvalid, "\(path): \(error.message)")
        }
    }

    /// Fetches an access token; the calling thread waits, at most 15 seconds.
    ///
    /// - Parameter nowSeconds: the wall clock, in seconds since 1970.
    /// - Returns: the token, or why there is none.
    public func fetch(nowSeconds: Int64) -> AccessTokenOutcome {
        do throws(ServiceError) {
            return endpoint.fetch(for: try account(), nowSeconds: nowSeconds)
        } catch {
            // An operator has to put another file there, so it is a refusal.
            return .failed(AccessTokenFailure(reason: error.message, isRefusal: true))
        }
    }
}

/// The way to the access tokens of service accounts.
public struct TokenEndpoint: Hashable, Sendable {
    /// Where they are fetched; empty for what the account says.
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

    /// Fetches an access token; the calling thread waits, at most 15 seconds.
    ///
    /// - Parameters:
    ///   - account: the account that asks.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    /// - Returns: the token, or why there is none.
    public func fetch(for account: ServiceAccount, nowSeconds: Int64) -> AccessTokenOutcome {
        do {
            let assertion = try ServiceAccountAssertion(account, nowSeconds: nowSeconds).text
            var client = HTTPClient()
            client.caFile = caFile
            client.proxy = proxy
            client.timeoutSeconds = 15
            client.bytesMaximum = AccessTokenOutcome.bodyBytesMaximum
            let answer = try client.post(
                url.isEmpty ? account.tokenURL : url,
                form: ["grant_type": ServiceAccountAssertion.grantType, "assertion": assertion])
            return AccessTokenOutcome(
                status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds,
                hiding: assertion)
        } catch let error as HTTPClient.Failure {
            return .failed(
                AccessTokenFailure(reason: "the token endpoint gave no answer: \(error.description)", isRefusal: false))
        } catch {
            return .failed(AccessTokenFailure(reason: "\(error)", isRefusal: false))
        }
    }
}

extension AccessTokenSource {
    /// Creates the source of a service account's access tokens; it fetches nothing before a token is needed.
    ///
    /// - Parameters:
    ///   - file: the account's file.
    ///   - clock: as for `init(clock:ended:fetch:)`.
    ///   - ended: takes the outcome of each fetch, for metrics and logs.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public convenience init(
        file: ServiceAccountFile,
        clock: @escaping @Sendable () -> MonotonicTime = AccessTokenSource.systemClock,
        ended: @escaping @Sendable (AccessTokenOutcome) -> Void = { _ in }
    ) throws(ServiceError) {
        try self.init(clock: clock, ended: ended) {
            file.fetch(nowSeconds: WallClock.nowMilliseconds() / 1_000)
        }
    }
}

extension AccessTokenSource {
    /// Creates the source of the access tokens of a service account that is in memory; it fetches nothing before a
    /// token is needed.
    ///
    /// - Parameters:
    ///   - account: the account.
    ///   - endpoint: where its tokens are fetched.
    ///   - ended: takes the outcome of each fetch, for metrics and logs.
    /// - Throws: `ServiceError` with `systemFailed` if there is no thread.
    public convenience init(
        account: ServiceAccount, endpoint: TokenEndpoint,
        ended: @escaping @Sendable (AccessTokenOutcome) -> Void = { _ in }
    ) throws(ServiceError) {
        try self.init(ended: ended) {
            endpoint.fetch(for: account, nowSeconds: WallClock.nowMilliseconds() / 1_000)
        }
    }
}
