internal import Crypto
import Essentials
internal import JSON
public import ServiceClient

/// A service account of Google, as the file describes it that Google hands out (AIP-4112).
///
/// The file is a JSON object; `client_email` and `private_key` (PKCS#8 PEM, RSA) are needed, `private_key_id`,
/// `project_id`, `token_uri` and `universe_domain` are used if they are there, other members are ignored.
public struct ServiceAccount: Sendable {
    /// Where Google exchanges assertions for access tokens, if the file does not say it.
    public static let defaultTokenURL = "https://oauth2.googleapis.com/token"

    /// Its address, for example `push@chat-4711.iam.gserviceaccount.com`.
    public let email: String
    /// The project that it was made in; empty if the file does not say it.
    public let projectID: String
    /// Where it gets access tokens: an `https` URL.
    public let tokenURL: String
    /// The cloud that it belongs to, `googleapis.com` unless the file says another (AIP-4116).
    public let universeDomain: String
    /// The identifier of its key; empty if the file does not say it.
    public let keyID: String

    let key: RS256PrivateKey

    private static let googleDomain = "googleapis.com"

    /// Whether it belongs to Google's own cloud, and not to one that others run with Google's software.
    public var isOfGoogle: Bool { universeDomain == Self.googleDomain }

    /// The host of `tokenURL` if it is none of Google's: that host gets statements which the account has signed.
    public var foreignTokenHost: String? {
        let authority = tokenURL.dropFirst("https://".count).prefix { !"/?#".contains($0) }
        let host = authority.lowercased()
        return host == Self.googleDomain || host.hasSuffix("." + Self.googleDomain) || host == "accounts.google.com"
            ? nil : host
    }

    /// The public half of its key in PEM, for verification.
    public var publicKeyPEM: String { key.publicKeyPEM }

    /// Reads the content of a file.
    ///
    /// - Parameter json: the content.
    /// - Throws: `ServiceError` with `keyInvalid` that names the member, without the key.
    public init(json: [UInt8]) throws(ServiceError) {
        let parsed = try Self.parsed(json)
        if let type = parsed["type"]?.string, type != "service_account" {
            throw Self.problem(
                "\"type\" is \"\(String(type.prefix(64)).printable())\", and must be \"service_account\"; "
                    + "an API key or an OAuth client cannot send")
        }
        email = try Self.text("client_email", in: parsed)
        projectID = parsed["project_id"]?.string ?? ""
        keyID = parsed["private_key_id"]?.string ?? ""
        tokenURL = parsed["token_uri"]?.string ?? Self.defaultTokenURL
        universeDomain = parsed["universe_domain"]?.string ?? Self.googleDomain
        try Self.requirePlain(universeDomain, "universe_domain")
        try Self.requirePlain(email, "client_email")
        try Self.requirePlain(projectID, "project_id")
        try Self.requirePlain(keyID, "private_key_id")
        try Self.requirePlain(tokenURL, "token_uri")
        guard tokenURL.hasPrefix("https://") else { throw Self.problem("\"token_uri\" does not begin with https://") }
        let pem = try Self.text("private_key", in: parsed)
        do throws(CryptoError) {
            key = try RS256PrivateKey(pem: Array(pem.utf8))
        } catch {
            throw Self.problem("\"private_key\": \(error.message)")
        }
    }

    /// Reads the JSON of a file, also as environment variables and secret stores change it.
    ///
    /// It may be a text in JSON, in quotes, in base64, or have line feeds where `private_key` has their escapes.
    private static func parsed(_ bytes: [UInt8]) throws(ServiceError) -> JSONValue {
        let parser = JSONParser(depthMaximum: 8, bytesMaximum: 2 * CredentialFile.bytesMaximum)
        do throws(JSONError) {
            var value = try parser.parse(ServiceAccountText.object(in: bytes))
            if let inner = value.string { value = try parser.parse(ServiceAccountText.object(in: Array(inner.utf8))) }
            if value.kind == .object { return value }
        } catch {
            throw problem("it is not a JSON object (\(error))")
        }
        throw problem("it is not a JSON object")
    }

    private static func text(_ name: StaticString, in object: JSONValue) throws(ServiceError) -> String {
        guard let text = object[name]?.string, !text.isEmpty else {
            throw problem("\"\(name)\" is missing, or no text")
        }
        return text
    }

    /// The texts become parts of a JSON Web Token or a URL, so nothing in them may need an escape.
    private static func requirePlain(_ text: String, _ name: String) throws(ServiceError) {
        let isPlain =
            text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
        if !isPlain { throw problem("\"\(name)\" must be at most 512 printable ASCII characters without quotes") }
    }

    private static func problem(_ what: String) -> ServiceError {
        ServiceError(
            .keyInvalid,
            "the service account cannot be used: \(what); take the JSON file of the Firebase console, "
                + "Project settings, Service accounts")
    }
}
