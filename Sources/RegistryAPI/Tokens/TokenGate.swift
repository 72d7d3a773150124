import HTTPServer
import PushCore

/// Lets requests through whose bearer token is known and may do what they want.
struct TokenGate: Sendable {
    let credentials: CredentialGuard

    /// What to answer to a request without a token that could be looked up; runs on any thread.
    func missing(_ request: HTTPRequest) -> TokenRefusal {
        guard let wait = credentials.authenticationFailed(request, "no such token") else { return .unknown }
        return .unknownTooOften(retryAfterSeconds: wait)
    }

    /// Finds the token with a digest, and counts the request; runs on the registry's thread.
    ///
    /// - Parameters:
    ///   - digest: of what the request shows.
    ///   - request: the request.
    ///   - writes: whether it changes something.
    ///   - context: the registry.
    /// - Returns: the token.
    /// - Throws: `TokenRefusal`.
    func open(
        _ digest: [UInt8], _ request: HTTPRequest, writes: Bool, _ context: RegistryContext
    ) throws(TokenRefusal) -> APIToken {
        let tokens: [APIToken]
        do throws(RegistryError) {
            tokens = try context.using { (registry) throws(RegistryError) in try registry.tokens() }
        } catch {
            throw .failed(error)
        }
        guard let token = TokenVerifier.token(with: digest, among: tokens) else { throw missing(request) }
        if let wait = credentials.take("token \(token.name)") { throw .tooMany(retryAfterSeconds: wait) }
        guard !writes || token.permission == .write else { throw .readOnly }
        return token
    }
}
