import Crypto
import Essentials
import HTTPServer
import RegistryCore

/// The secret that a backend shows to the native API: a fixed beginning and 32 random bytes in base64url.
///
/// The beginning lets scanners of source code find tokens that were checked in.
public struct BearerToken: Sendable, CustomStringConvertible, CustomReflectable {
    private static let prefix = "apus_"
    private static let secretBytes = 32

    /// The token itself; shown once, at its creation.
    public let revealed: String

    /// The stored form of the token: its SHA-256.
    ///
    /// The token has 256 random bits, so that no slower hash is needed.
    public var digest: [UInt8] { Self.digest(of: revealed) }

    /// Makes a token from the system's random numbers.
    public static func random() -> BearerToken {
        BearerToken(
            revealed: prefix + Base64URL.encode((0..<secretBytes).map { _ in UInt8.random(in: 0...255) }))
    }

    /// The digest of a text that a request shows as its token.
    static func digest(of text: some StringProtocol) -> [UInt8] { SHA256Digest.digest(Array(text.utf8)) }

    /// Nothing of the token.
    public var description: String { "bearer token" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Finds out whose bearer token a request shows (RFC 6750, section 2.1).
enum TokenVerifier {
    /// The digest of the token that a request shows; nil if it shows none, or several.
    static func digest(in request: HTTPRequest) -> [UInt8]? {
        let scheme = "bearer "
        guard let field = request.field("authorization"), field.prefix(scheme.count).lowercased() == scheme else {
            return nil
        }
        let token = field.dropFirst(scheme.count).drop { $0 == " " }
        return token.isEmpty ? nil : BearerToken.digest(of: token)
    }

    /// The token with a digest, or nil.
    ///
    /// Takes the same time whichever token it is, or none: every digest is compared, each in constant time.
    static func token(with digest: [UInt8], among tokens: [APIToken]) -> APIToken? {
        var found: APIToken?
        for token in tokens {
            let isEqual = MessageAuthentication.isEqual(token.digest, digest)
            found = isEqual ? token : found
        }
        return found
    }
}
