/// The header field `Authorization` of Signature Version 4, taken apart.
///
/// Its form is `AWS4-HMAC-SHA256 Credential=ID/DAY/REGION/SERVICE/aws4_request, SignedHeaders=a;b, Signature=HEX`
/// ("Create a signed AWS API request", the AWS General Reference).
struct SignatureHeader {
    static let algorithm = "AWS4-HMAC-SHA256"
    static let terminator = "aws4_request"

    let keyIdentifier: String
    let day: String
    let region: String
    let service: String
    let signedFieldNames: [String]
    /// The signature as it was sent, in hexadecimal digits.
    let signature: String

    /// The part of the credential that is signed as well.
    var scope: String { "\(day)/\(region)/\(service)/\(Self.terminator)" }

    /// Takes a header field apart.
    init(_ text: String) throws(SignatureRefusal) {
        guard text.hasPrefix(Self.algorithm + " ") else {
            throw SignatureRefusal(.incomplete, "Authorization does not begin with '\(Self.algorithm) '.")
        }
        var parts: [Substring: Substring] = [:]
        for part in text.dropFirst(Self.algorithm.count + 1).split(separator: ",") {
            let trimmed = part.drop { $0 == " " }
            let name = trimmed.prefix { $0 != "=" }
            guard parts.updateValue(trimmed.dropFirst(name.count + 1), forKey: name) == nil else {
                throw SignatureRefusal(.incomplete, "Authorization has a part twice.")
            }
        }
        guard let credential = parts["Credential"], let names = parts["SignedHeaders"],
            let signature = parts["Signature"], parts.count == 3
        else {
            throw SignatureRefusal(
                .incomplete, "Authorization requires 'Credential', 'SignedHeaders' and 'Signature', and nothing else.")
        }
        let scope = credential.split(separator: "/", omittingEmptySubsequences: false)
        guard scope.count == 5, scope[4] == Self.terminator, scope.allSatisfy({ !$0.isEmpty }) else {
            throw SignatureRefusal(
                .incomplete, "Credential must be ID/YYYYMMDD/REGION/SERVICE/\(Self.terminator).")
        }
        keyIdentifier = String(scope[0])
        day = String(scope[1])
        region = String(scope[2])
        service = String(scope[3])
        signedFieldNames = names.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        self.signature = String(signature)
        guard !signedFieldNames.contains(""), signedFieldNames == Set(signedFieldNames).sorted() else {
            throw SignatureRefusal(.incomplete, "SignedHeaders must be sorted names, separated by ';'.")
        }
    }
}

/// Why a request's signature is not accepted; the raw values are the names that Amazon's services use.
struct SignatureRefusal: Error, Hashable {
    /// The kinds of refusal.
    enum Code: String {
        /// There is no `Authorization`.
        case missing = "MissingAuthenticationTokenException"
        /// The `Authorization`, or a part that it needs, is not well-formed.
        case incomplete = "IncompleteSignatureException"
        /// The access key is unknown.
        case unknownKey = "UnrecognizedClientException"
        /// The signature is not that of the request, or too old, or too new.
        case invalid = "InvalidSignatureException"
    }

    let code: Code
    let message: String

    /// The HTTP status.
    var status: Int { code == .incomplete ? 400 : 403 }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
