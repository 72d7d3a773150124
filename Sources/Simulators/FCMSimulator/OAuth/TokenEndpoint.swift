import Crypto
import Essentials
import PushServiceSimulator

/// Google's token endpoint: exchanges assertions of service accounts for access tokens.
struct TokenEndpoint: Sendable {
    static let path = "/token"

    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// A service account with its keys by identifier.
    struct Account: Sendable {
        let email: String
        let keys: [String: RS256PublicKey]
        let maySend: Bool
    }

    /// The accounts by their addresses.
    let accounts: [String: Account]
    let tokens: AccessTokens<FCMGrant>
    let lifeSeconds: Int
    /// Whether every request gets a token unseen.
    let isTrusting: Bool

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - contentType: the header `content-type`.
    ///   - body: the form.
    ///   - nowMilliseconds: the time, in milliseconds since 1970.
    /// - Returns: a token, or why there is none.
    func answer(contentType: String?, body: [UInt8], nowMilliseconds: Int64) -> ServiceAnswer {
        guard !isTrusting else { return issued(account: "", scopes: [], nowMilliseconds) }
        do throws(TokenRefusal) {
            let assertion = try grant(contentType: contentType, body: body, nowSeconds: nowMilliseconds / 1_000)
            return issued(account: assertion.issuer, scopes: assertion.scopes, nowMilliseconds)
        } catch {
            tokens.refused()
            return error.answer()
        }
    }

    private func issued(account: String, scopes: [String], _ nowMilliseconds: Int64) -> ServiceAnswer {
        let text = tokens.issue(
            FCMGrant(account: account, scopes: scopes), to: account, prefix: "ya29.c.",
            nowMilliseconds: nowMilliseconds, lifeSeconds: lifeSeconds)
        let body = #"{"access_token":"\#(text)","expires_in":\#(lifeSeconds),"token_type":"Bearer"}"#
        return .json(status: 200, reason: nil, Array(body.utf8))
    }

    private func grant(
        contentType: String?, body: [UInt8], nowSeconds: Int64
    ) throws(TokenRefusal) -> Assertion {
        let type = contentType?.split(separator: ";").first.map { $0.lowercased() } ?? ""
        guard type == "application/x-www-form-urlencoded", let form = FormFields(body) else {
            throw .invalidRequest
        }
        guard form["grant_type"] == Self.grantType else { throw .unsupportedGrantType }
        guard let text = form["assertion"] else { throw .invalidRequest }
        guard let assertion = Assertion(text) else { throw .malformed }
        guard let account = accounts[assertion.issuer] else { throw .accountNotFound }
        guard isSigned(assertion, by: account) else { throw .badSignature }
        if let refusal = assertion.refusal(nowSeconds: nowSeconds) { throw refusal }
        return assertion
    }

    private func isSigned(_ assertion: Assertion, by account: Account) -> Bool {
        guard assertion.algorithm == "RS256" else { return false }
        let keys = assertion.keyID.map { keyID in account.keys[keyID].map { [$0] } ?? [] } ?? Array(account.keys.values)
        return keys.contains { $0.isValid(signature: assertion.signature, of: assertion.signedBytes) }
    }
}

/// The fields of a form (`application/x-www-form-urlencoded`, URL Standard section 5.1), read strictly.
struct FormFields {
    private let fields: [String: String]

    /// Reads a form; nil if a percent sign is followed by no two digits, the text is not UTF-8, or a name comes twice.
    init?(_ body: [UInt8]) {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : []),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        self.fields = fields
    }

    /// The value of a field; nil if there is none.
    subscript(name: String) -> String? { fields[name] }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return String(validating: spaced, as: UTF8.self).flatMap { PercentEncoding.decode($0) }
    }
}
