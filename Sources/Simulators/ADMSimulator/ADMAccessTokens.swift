import Essentials
import HTTPServer
import Synchronization

/// The numbers of the fetching of access tokens.
public struct ADMTokenCounts: Sendable, Equatable {
    /// Requests for a token.
    public var requests = 0
    /// Tokens that were given out.
    public var issued = 0
    /// Requests that were refused by a rule.
    public var refused = 0
    /// Requests that were answered wrongly on purpose.
    public var faults = 0

    /// Begins with none.
    public init() {}
}

/// Amazon's token endpoint, and the tokens that it gave out.
///
/// Source of the request and the answer: Amazon, "Request an Access Token" (ADM). The refusals are those of RFC 6749
/// section 5.2, because the page's own could not be read.
final class ADMAccessTokens: Sendable {
    static let path = "/auth/O2/token"

    private struct State {
        /// When each token expires, in milliseconds since 1970.
        var expiries: [String: Int64] = [:]
        var counts = ADMTokenCounts()
        var faults = ADMTokenFaults.none
    }

    private static let tokensMaximum = 10_000

    private let clients: [String: String]
    private let lifeSeconds: Int
    private let state = Mutex(State())

    init(clients: [String: String], lifeSeconds: Int) {
        self.clients = clients
        self.lifeSeconds = lifeSeconds
    }

    /// The numbers so far.
    var counts: ADMTokenCounts { state.withLock { $0.counts } }

    /// Answers the next requests in another way.
    func add(_ faults: ADMTokenFaults) { state.withLock { $0.faults.add(faults) } }

    /// Answers all requests in the right way again.
    func removeFaults() { state.withLock { $0.faults = .none } }

    /// Lets all tokens expire at once.
    func revokeAll() { state.withLock { $0.expiries = [:] } }

    /// Whether messages may be sent with a token.
    func isGood(_ token: String, nowMilliseconds: Int64) -> Bool {
        state.withLock { $0.expiries[token].map { nowMilliseconds < $0 } ?? false }
    }

    /// Answers a request for a token; nil if it is left without an answer.
    func answer(_ request: HTTPRequest, nowMilliseconds: Int64) -> ADMAnswer? {
        let fault = state.withLock { state -> ADMTokenFault? in
            state.counts.requests += 1
            let fault = state.faults.next()
            if fault != nil { state.counts.faults += 1 }
            return fault
        }
        switch fault {
        case .silence: return nil
        case .answer(let status, let body, let retryAfter):
            return ADMAnswer(status: status, body: body, retryAfter: retryAfter)
        case nil: break
        }
        if let refusal = refusal(of: request) {
            state.withLock { $0.counts.refused += 1 }
            return refusal
        }
        return issue(nowMilliseconds)
    }

    private func refusal(of request: HTTPRequest) -> ADMAnswer? {
        guard request.method == "POST" else { return ADMAnswer(status: 404, body: "") }
        let type = request.field("content-type")?.split(separator: ";").first.map { $0.lowercased() }
        // A form is written as the query of a target, apart from the plus sign.
        let text = String(decoding: request.body, as: UTF8.self).split(separator: "+", omittingEmptySubsequences: false)
        guard type == "application/x-www-form-urlencoded",
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

    private func issue(_ nowMilliseconds: Int64) -> ADMAnswer {
        let token = "Atc|" + Base64URL.encode((0..<96).map { _ in .random(in: 0...255) })
        state.withLock { state in
            state.counts.issued += 1
            if state.expiries.count >= Self.tokensMaximum {
                state.expiries = state.expiries.filter { $0.value > nowMilliseconds }
            }
            state.expiries[token] = nowMilliseconds + Int64(lifeSeconds) * 1_000
        }
        return ADMAnswer(
            status: 200,
            body: #"{"access_token":"\#(token)","expires_in":\#(lifeSeconds),"scope":"messaging:push","#
                + #""token_type":"bearer"}"#)
    }

    private static func refused(_ status: Int, _ error: String, _ description: String) -> ADMAnswer {
        ADMAnswer(
            status: status, reason: error, body: #"{"error":"\#(error)","error_description":"\#(description)"}"#)
    }
}
