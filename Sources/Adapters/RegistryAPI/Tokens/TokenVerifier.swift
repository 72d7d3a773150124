import Crypto
import HTTPServer
import PushCore

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
