import Crypto
import Essentials

/// The signed statement by which a service account asks for an access token (RFC 7523; Google, "Using OAuth 2.0 for
/// server to server applications").
///
/// It is a JSON Web Token with the header `{"alg":"RS256","typ":"JWT","kid":…}` and the claims `iss`, `scope`, `aud`,
/// `iat` and `exp`.
struct ServiceAccountAssertion {
    /// The permission that is asked for: to send messages.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// The grant type that goes with it (RFC 7523 section 2.1).
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// The longest life that Google allows, in seconds.
    private static let lifeSeconds: Int64 = 3_600

    /// How far `iat` lies in the past, in seconds, so that a clock that is a little fast is no obstacle.
    private static let skewSeconds: Int64 = 30

    /// The token.
    let text: String

    /// Signs a statement.
    ///
    /// - Parameters:
    ///   - account: the account.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    /// - Throws: `CryptoError` if the key does not sign.
    init(_ account: ServiceAccount, nowSeconds: Int64) throws(CryptoError) {
        // No text of an account has a character that JSON escapes.
        let keyID = account.keyID.isEmpty ? "" : #","kid":"\#(account.keyID)""#
        let issued = nowSeconds - Self.skewSeconds
        // It is for the endpoint that the account names, wherever the request goes (`golang.org/x/oauth2/google`).
        let claims =
            #"{"iss":"\#(account.email)","scope":"\#(Self.scope)","aud":"\#(account.tokenURL)","#
            + #""iat":\#(issued),"exp":\#(issued + Self.lifeSeconds)}"#
        let signingInput =
            Base64URL.encode(Array(#"{"alg":"RS256","typ":"JWT"\#(keyID)}"#.utf8)) + "."
            + Base64URL.encode(Array(claims.utf8))
        text = signingInput + "." + Base64URL.encode(try account.key.sign(Array(signingInput.utf8)))
    }
}
