import HTTPServer

/// What a request of the CloudKit dialect shows to be let in.
enum CloudKitCredential {
    /// A bearer token, by its digest.
    case token(digest: [UInt8])
    /// A signature of a server-to-server key.
    case signature
    /// Nothing.
    case nothing

    /// Finds out what a request shows, in the header `Authorization` and in the query's `ckAPIToken`.
    ///
    /// - Throws: `CloudKitError` if it shows several that differ: whoever checks one of them must not let the request
    ///   through that another one carries out.
    init(_ request: HTTPRequest) throws(CloudKitError) {
        let scheme = "bearer "
        let fields = request.fields.filter { $0.name == "authorization" }.map(\.value)
        let headers = fields.filter { $0.prefix(scheme.count).lowercased() == scheme }.map { field in
            String(field.dropFirst(scheme.count).drop { $0 == " " })
        }
        let items = request.target.queryItems.filter { $0.name == "ckAPIToken" }.map(\.value)
        let tokens = Set((headers + items).filter { !$0.isEmpty }.map { Array($0.utf8) })
        guard tokens.count <= 1, fields.count <= 1 else {
            throw CloudKitError(
                .badRequest, "The request has several tokens, in Authorization or ckAPIToken; it needs one.")
        }
        if ServerKeyVerifier.isSigned(request) {
            guard tokens.isEmpty else {
                throw CloudKitError(
                    .badRequest, "The request has a token and a signature of a server key; it needs one of them.")
            }
            self = .signature
        } else if let token = tokens.first {
            self = .token(digest: BearerToken.digest(of: String(decoding: token, as: UTF8.self)))
        } else {
            self = .nothing
        }
    }
}
