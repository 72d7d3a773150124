import Crypto
import Essentials
import PushServiceSimulator

/// The claims of a provider token: a JSON Web Token signed with ES256.
///
/// Source: Apple, "Establishing a token-based connection to APNs"; RFC 7515 for the form.
struct ProviderToken: Equatable, Sendable {
    /// The claim `kid` of the header: which key signed it.
    let keyID: String
    /// The claim `iss`: whose key that is.
    let teamID: String
    /// The claim `iat`, in seconds since 1970.
    let issuedAtSeconds: Int64
    /// The signed bytes: header and claims, as they stand in the token.
    let signedBytes: [UInt8]
    /// The signature: 64 bytes, r and s, or r and s in DER.
    let signature: [UInt8]

    /// The longest value of `authorization` that is looked at, in bytes.
    static let authorizationBytesMaximum = 4_096

    private static let scheme = Array("bearer ".utf8)

    /// Takes the token out of the header `authorization`.
    ///
    /// - Returns: the token's text, or nil if the header is of another scheme or names none.
    static func text(inAuthorization value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard value.count > 7 else { return nil }
        // The scheme's case does not matter (RFC 9110, section 11.1).
        for (index, letter) in scheme.enumerated() where value[index] | 0x20 != letter {
            return nil
        }
        return UnsafeBufferPointer(rebasing: value[7...])
    }

    /// Reads a token without checking its signature; the result is nil if anything is not as Apple asks.
    ///
    /// - Parameter text: three parts in base64url with periods between.
    init?(text: UnsafeBufferPointer<UInt8>) {
        guard text.count <= Self.authorizationBytesMaximum else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let decoded = parts.compactMap { Base64URL.decode(String(decoding: $0, as: UTF8.self)) }
        guard decoded.count == 3, let header = Self.claims(in: decoded[0]), let claims = Self.claims(in: decoded[1]),
            header.texts["alg"] == "ES256", let keyID = header.texts["kid"], let teamID = claims.texts["iss"],
            let issuedAt = claims.numbers["iat"]
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        issuedAtSeconds = issuedAt
        signedBytes = Array(text[..<parts[1].endIndex])
        signature = decoded[2]
    }

    private static func claims(in bytes: [UInt8]) -> (texts: [String: String], numbers: [String: Int64])? {
        let members = try? JSONReader.members(of: bytes, texts: ["alg", "kid", "iss"], numbers: ["iat"])
        return members.map { ($0.texts, $0.numbers) }
    }

    /// Whether a key signed the token.
    ///
    /// Apple asks for ES256, whose signatures are r and s (RFC 7518, section 3.4). According to APNSwift's issue 36,
    /// APNs has accepted DER, too, and Pushy sends the output of Java's `Signature`, which is DER. A signature in DER
    /// of exactly 64 bytes would need numbers too small to occur.
    func isSigned(by key: ES256PublicKey) -> Bool {
        signature.count == 64
            ? key.isValid(signature: signature, of: signedBytes)
            : key.isValid(signatureInDER: signature, of: signedBytes)
    }
}
