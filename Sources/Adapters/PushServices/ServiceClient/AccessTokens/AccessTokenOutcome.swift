import Essentials
internal import JSON

/// How the fetch of an access token ended.
public enum AccessTokenOutcome: Hashable, Sendable {
    /// The endpoint gave one out, which lives that many seconds: 1 to 86 400.
    case granted(token: String, lifeSeconds: Int)
    /// There is none.
    case failed(AccessTokenFailure)
}

/// Why there is no access token.
public struct AccessTokenFailure: Hashable, Sendable {
    /// The reason, for an operator: printable, and without secrets.
    public let reason: String
    /// Whether the credentials are not accepted, so that an operator has to act.
    public let isRefusal: Bool
    /// How long the endpoint asks to wait, in seconds, at most a day.
    public let retryAfterSeconds: Int?

    /// Creates a failure.
    public init(reason: String, isRefusal: Bool, retryAfterSeconds: Int? = nil) {
        self.reason = reason
        self.isRefusal = isRefusal
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension AccessTokenOutcome {
    /// The most bytes of an answer that are read.
    public static let bodyBytesMaximum = 65_536

    private static let lifeSecondsMaximum = 86_400

    /// Reads the answer of a token endpoint (RFC 6749 sections 5.1 and 5.2).
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: the body, in JSON.
    ///   - retryAfterSeconds: the header `retry-after`.
    ///   - secret: the text that the reason must not repeat, whatever the endpoint says.
    public init(status: Int, body: [UInt8], retryAfterSeconds: Int?, hiding secret: String = "") {
        let parsed = try? JSONParser(depthMaximum: 8, bytesMaximum: Self.bodyBytesMaximum).parse(
            body, refusingRepeatedKeys: false)
        if status == 200 {
            self = Self.granted(parsed)
            return
        }
        let error = parsed?["error"]?.string ?? ""
        let text = [error, parsed?["error_description"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        let shown = secret.isEmpty ? text : text.replacing(secret, with: "[redacted]")
        // Google says "internal_failure" with status 400 when it means a 500 (google-auth-library-python).
        let isRefusal = (400...499).contains(status) && status != 408 && status != 429 && error != "internal_failure"
        self = .failed(
            AccessTokenFailure(
                reason: "the token endpoint answered \(status)"
                    + (shown.isEmpty ? "" : " (\(String(shown.prefix(200)).printable()))"),
                isRefusal: isRefusal, retryAfterSeconds: retryAfterSeconds))
    }

    private static func granted(_ answer: JSONValue?) -> AccessTokenOutcome {
        guard let token = answer?["access_token"]?.string, !token.isEmpty, token.utf8.count <= 8_192,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            return .failed(
                AccessTokenFailure(
                    reason: "the token endpoint answered 200 without an access_token of 1 to 8192 printable bytes",
                    isRefusal: false))
        }
        // RFC 6749 only recommends the member; an hour is what Google and Amazon give.
        let lifeSeconds = answer?["expires_in"]?.int64 ?? 3_600
        guard lifeSeconds > 0 else {
            return .failed(
                AccessTokenFailure(
                    reason: "the token endpoint gave out a token that has expired (expires_in \(lifeSeconds))",
                    isRefusal: false))
        }
        return .granted(token: token, lifeSeconds: Int(min(lifeSeconds, Int64(lifeSecondsMaximum))))
    }
}
