/// Why a request's signature is not accepted; the raw values are the names that Amazon's services use.
struct SignatureRefusal: Error, Hashable {
    /// The kinds of refusal.
    enum Code: String {
        /// There is no `Authorization`.
        case missing = "MissingAuthenticationTokenException"
        /// The `Authorization`, or what it needs, is not well-formed.
        case incomplete = "IncompleteSignatureException"
        /// Nobody has this access key.
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
