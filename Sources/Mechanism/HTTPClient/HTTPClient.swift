import CCurl
import Essentials
import Glibc

/// Fetches a document, or posts a form, by HTTP now and then, with libcurl: one request, one connection, the calling
/// thread waits.
///
/// Meant for rare requests; redirects are not followed, and the environment's proxies are not used.
public struct HTTPClient: Sendable {
    /// The answer of a server.
    public struct Answer: Hashable, Sendable {
        /// The status, for example 200.
        public let status: Int
        /// The body.
        public let body: [UInt8]
        /// The header `retry-after` in seconds, at most a day; nil if there is none.
        public let retryAfterSeconds: Int?
    }

    /// Why there was no answer, in libcurl's words.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problem.
        public let description: String
    }

    /// libcurl asks for this once in a process, before it is used.
    static let isSetUp = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// The user's name; empty for none.
    public var user = ""
    /// The user's password.
    public var password = ""
    /// A bearer token (RFC 6750), in place of a user; empty for none.
    public var bearerToken = ""
    /// A file of PEM certificates to trust beside the system's; empty for none.
    public var caFile = ""
    /// The URL of the HTTP proxy to go through, which may hold a password; empty for none.
    public var proxy = ""
    /// How long all of one request may take, in seconds.
    public var timeoutSeconds = 10
    /// The largest body to take, in bytes.
    public var bytesMaximum = 4 * 1_024 * 1_024

    /// Creates a client without credentials.
    public init() {}

    /// Fetches a document.
    ///
    /// - Parameter url: `http://…` or `https://…`; a user in it counts more than the client's.
    /// - Returns: the answer, with any status.
    /// - Throws: `Failure` if there is no server, no trust in it, no whole answer in time, or a body that is too large.
    public func get(_ url: String) throws(Failure) -> Answer { try exchange(url, form: nil) }

    /// Posts a form (`application/x-www-form-urlencoded`).
    ///
    /// - Parameters:
    ///   - url: as for `get`.
    ///   - form: the names and values.
    /// - Returns: the answer, with any status.
    /// - Throws: as `get`.
    public func post(_ url: String, form: KeyValuePairs<String, String>) throws(Failure) -> Answer {
        let pairs = form.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
        return try exchange(url, form: pairs.joined(separator: "&"))
    }

    private func exchange(_ url: String, form: String?) throws(Failure) -> Answer {
        guard Self.isSetUp else { throw Failure(description: "libcurl cannot be set up") }
        var answer = ccurl_answer()
        defer { free(answer.body) }
        let user = Self.namesUser(url) ? "" : user
        let code = url.withCString { url in
            user.withCString { user in
                password.withCString { password in
                    bearerToken.withCString { token in
                        caFile.withCString { caFile in
                            proxy.withCString { proxy in
                                withOptionalCString(form) { form in
                                    var request = ccurl_request(
                                        url: url, user: user, password: password, bearer_token: token,
                                        ca_file: caFile, proxy: proxy, timeout_milliseconds: timeoutSeconds * 1_000,
                                        bytes_maximum: bytesMaximum, form: form)
                                    return ccurl_exchange(&request, &answer)
                                }
                            }
                        }
                    }
                }
            }
        }
        guard code == 0 else {
            let problem = withUnsafeBytes(of: &answer.problem) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw Failure(description: problem)
        }
        let body = UnsafeRawBufferPointer(start: answer.body, count: answer.count)
        let retryAfter = answer.retry_after_seconds
        return Answer(
            status: answer.status, body: Array(body), retryAfterSeconds: retryAfter > 0 ? retryAfter : nil)
    }

    private func withOptionalCString<Result>(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }

    /// Whether the URL names a user; libcurl would use that one.
    private static func namesUser(_ url: String) -> Bool {
        url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first?
            .prefix { $0 != "/" }.contains("@") ?? false
    }
}
