import HTTPServer
import PushServiceSimulator
import Synchronization

/// Amazon's token endpoint.
///
/// Source of the request and the answer: Amazon, "Request an Access Token" (ADM). The refusals are those of RFC 6749
/// section 5.2, because the page's own could not be read.
final class ADMTokenEndpoint: Sendable {
    static let path = "/auth/O2/token"

    /// The tokens that it gave out, which give the right to send all messages.
    let tokens = AccessTokens<Void>()
    private let clients: [String: String]
    private let lifeSeconds: Int
    private let faults: Mutex<ADMTokenFaults>

    init(_ configuration: ADMSimulatorConfiguration) {
        clients = configuration.clients
        lifeSeconds = configuration.accessTokenSeconds
        faults = Mutex(configuration.tokenFaults)
    }

    /// Answers the next requests in another way.
    func add(_ faults: ADMTokenFaults) { self.faults.withLock { $0.add(faults) } }

    /// Answers all requests in the right way again.
    func removeFaults() { faults.withLock { $0 = .none } }

    /// Answers a request for a token; nil if it is left without an answer.
    func answer(_ request: HTTPRequest, nowMilliseconds: Int64) -> ServiceAnswer? {
        tokens.fetchBegan()
        defer { tokens.fetchEnded() }
        if let fault = faults.withLock({ $0.next() }) {
            tokens.answeredFaultily()
            switch fault {
            case .silence: return nil
            case .answer(let status, let body, let retryAfter):
                return .adm(status: status, body: body, retryAfter: retryAfter)
            }
        }
        if let refusal = refusal(of: request) {
            tokens.refused()
            return refusal
        }
        let token = tokens.issue(
            (), to: "", prefix: "Atc|", nowMilliseconds: nowMilliseconds, lifeSeconds: lifeSeconds)
        return .adm(
            status: 200,
            body: #"{"access_token":"\#(token)","expires_in":\#(lifeSeconds),"scope":"messaging:push","#
                + #""token_type":"bearer"}"#)
    }

    private func refusal(of request: HTTPRequest) -> ServiceAnswer? {
        guard request.method == "POST" else { return .adm(status: 404, body: "") }
        // A form is written as the query of a target, apart from the plus sign.
        let text = String(decoding: request.body, as: UTF8.self).split(separator: "+", omittingEmptySubsequences: false)
        guard request.mediaType == "application/x-www-form-urlencoded",
            let items = HTTPTarget("/?" + text.joined(separator: "%20"))?.queryItems
        else { return Self.refused(400, "invalid_request", "the request is no form") }
        func value(_ name: String) -> String? {
            let found = items.filter { $0.name == name }
            return found.count == 1 ? found[0].value : nil
        }
        guard value("grant_type") == "client_credentials" else {
            return Self.refused(400, "unsupported_grant_type", "grant_type has to be client_credentials")
        }
        guard value("scope") == "messaging:push" else {
            return Self.refused(400, "invalid_scope", "scope has to be messaging:push")
        }
        guard let client = value("client_id"), let secret = clients[client], value("client_secret") == secret else {
            return Self.refused(401, "invalid_client", "Client authentication failed")
        }
        return nil
    }

    private static func refused(_ status: Int, _ error: String, _ description: String) -> ServiceAnswer {
        .adm(status: status, body: #"{"error":"\#(error)","error_description":"\#(description)"}"#)
    }
}
