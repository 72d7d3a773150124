import Essentials
import HTTPServer
import RegistryCore

/// Admits requests whose bearer token is known and sufficient.
struct TokenGate: Sendable {
    let credentials: CredentialGuard

    /// The refusal of a request without a token that could be looked up; runs on any thread.
    func missing(_ request: HTTPRequest) -> TokenRefusal {
        guard let wait = credentials.authenticationFailed(request, "no such token") else { return .unknown }
        return .unknownTooOften(retryAfterSeconds: wait)
    }

    /// Among whose requests one waits that shows a token: the token's own, if it is known to be one.
    ///
    /// Otherwise a client with made-up tokens would have any number of turns.
    func credential(_ digest: [UInt8], _ request: HTTPRequest) -> String {
        credentials.isKnown(digest) ? "token \(Base64URL.encode(digest))" : "address \(request.clientShare)"
    }

    /// Whether the holder of a token may send a long body.
    ///
    /// - Parameters:
    ///   - digest: the digest of the request's token; nil if it has none.
    ///   - request: the head of the request.
    ///   - refuse: gives a refusal its form.
    /// - Returns: yes if the token is known, no if there is none, or the question for the registry.
    func admitBody(
        _ digest: [UInt8]?, _ request: HTTPRequest, refuse: @escaping @Sendable (TokenRefusal) -> HTTPResponse
    ) -> BodyAdmission {
        guard let digest else { return .refused(refuse(missing(request))) }
        if credentials.isKnown(digest) { return .allowed }
        return .asked(as: credential(digest, request)) { context in
            do throws(TokenRefusal) {
                _ = try token(digest, request, context)
                return nil
            } catch {
                return refuse(error)
            }
        }
    }

    /// Finds the token with a digest, and counts the request; runs on the loop that reads.
    ///
    /// - Parameters:
    ///   - digest: the digest of the request's token.
    ///   - request: the request.
    ///   - needed: the permission that the request needs.
    ///   - other: another permission that will do.
    ///   - context: the registry.
    /// - Returns: the token.
    /// - Throws: `TokenRefusal`.
    func open(
        _ digest: [UInt8], _ request: HTTPRequest, for needed: APIToken.Permission,
        orOnly other: APIToken.Permission? = nil, _ context: RegistryContext
    ) throws(TokenRefusal) -> APIToken {
        let token = try token(digest, request, context)
        return try admit(token, for: token.permission == other ? token.permission : needed)
    }

    /// Finds a token that may publish without asking the registry, and counts the request; from any thread.
    ///
    /// - Returns: the token; nil if the registry has to be asked, because it did not have the token a second ago.
    /// - Throws: `TokenRefusal`.
    func openFresh(_ digest: [UInt8]) throws(TokenRefusal) -> APIToken? {
        guard let token = credentials.freshToken(digest) else { return nil }
        return try admit(token, for: .publish)
    }

    private func admit(_ token: APIToken, for needed: APIToken.Permission) throws(TokenRefusal) -> APIToken {
        let wait = needed == .publish ? credentials.takeEvent(of: token) : credentials.take("token \(token.name)")
        if let wait { throw .tooMany(retryAfterSeconds: wait) }
        guard token.permission.includes(needed) else { throw .insufficient(needed) }
        return token
    }

    private func token(
        _ digest: [UInt8], _ request: HTTPRequest, _ context: RegistryContext
    ) throws(TokenRefusal) -> APIToken {
        let tokens: [APIToken]
        do throws(RegistryError) {
            tokens = try context.using { (registry) throws(RegistryError) in try registry.tokens() }
        } catch {
            throw .failed(error)
        }
        guard let token = TokenVerifier.token(with: digest, among: tokens) else {
            credentials.forget(digest)
            throw missing(request)
        }
        credentials.remember(token)
        return token
    }
}

/// Why a bearer token does not open the way.
enum TokenRefusal: Error {
    /// There is no token, or it is unknown.
    case unknown
    /// There is no token, or it is unknown, and too many requests from that address were like that.
    case unknownTooOften(retryAfterSeconds: Int)
    /// It makes too many requests.
    case tooMany(retryAfterSeconds: Int)
    /// It does not have this permission.
    case insufficient(APIToken.Permission)
    /// The registry does not say.
    case failed(RegistryError)
}
