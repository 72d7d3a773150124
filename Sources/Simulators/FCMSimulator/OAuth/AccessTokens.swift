import Essentials
import Synchronization

/// An access token that was given out.
struct AccessToken {
    /// The scopes with which messages may be sent.
    private static let sendingScopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/firebase",
    ]
    private static let scopePrefix = "https://www.googleapis.com/auth/"

    /// The account that the token belongs to.
    let account: String
    let scopes: [String]
    let expiresAtMilliseconds: Int64

    /// Whether messages may be sent with it.
    var allowsSending: Bool { scopes.contains(where: Self.sendingScopes.contains) }

    /// Whether a scope is one of Google's, as far as its form says.
    static func isScope(_ scope: String) -> Bool {
        scope.hasPrefix(scopePrefix) && scope.utf8.count > scopePrefix.utf8.count
            && scope.utf8.dropFirst(scopePrefix.utf8.count).allSatisfy { byte in
                (97...122).contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: "-")
            }
    }
}

/// The access tokens of all accounts, and the numbers of their fetching.
final class AccessTokens: Sendable {
    /// The standing of a token.
    enum Standing {
        case good(AccessToken)
        /// It has expired or was revoked.
        case expired
        /// It was never given out.
        case unknown
    }

    private struct State {
        var tokens: [String: AccessToken] = [:]
        /// The numbers so far.
        var counts = TokenCounts()
        var underWay = 0
        /// When the newest token of each account expires, in milliseconds since 1970.
        var newestExpiry: [String: Int64] = [:]
    }

    /// How many tokens are kept; above that those go that have expired.
    private static let tokensMaximum = 10_000

    private let state = Mutex(State())

    /// The numbers so far.
    var counts: TokenCounts { state.withLock { $0.counts } }

    /// Notes that a request for a token has come.
    func fetchBegan() {
        state.withLock { state in
            state.counts.requests += 1
            state.underWay += 1
            state.counts.atOnceMaximum = max(state.counts.atOnceMaximum, state.underWay)
        }
    }

    /// Notes that a request for a token has been answered, or will never be.
    func fetchEnded() { state.withLock { $0.underWay -= 1 } }

    /// Gives out a token.
    func issue(account: String, scopes: [String], nowMilliseconds: Int64, lifeSeconds: Int) -> String {
        let text = "ya29.c." + Base64URL.encode((0..<96).map { _ in .random(in: 0...255) })
        let expiry = nowMilliseconds + Int64(lifeSeconds) * 1_000
        state.withLock { state in
            state.counts.issued += 1
            if let earlier = state.newestExpiry[account], earlier > nowMilliseconds {
                let left = Int((earlier - nowMilliseconds) / 1_000)
                state.counts.secondsLeftMaximum = max(state.counts.secondsLeftMaximum ?? 0, left)
            } else if state.newestExpiry[account] != nil {
                state.counts.lateRefreshes += 1
            }
            state.newestExpiry[account] = expiry
            if state.tokens.count >= Self.tokensMaximum {
                state.tokens = state.tokens.filter { $0.value.expiresAtMilliseconds > nowMilliseconds }
            }
            state.tokens[text] = AccessToken(account: account, scopes: scopes, expiresAtMilliseconds: expiry)
        }
        return text
    }

    /// Notes that a token was refused.
    func refused() { state.withLock { $0.counts.refused += 1 } }

    /// Returns the standing of a token.
    func standing(_ text: String, nowMilliseconds: Int64) -> Standing {
        state.withLock { state in
            guard let token = state.tokens[text] else { return .unknown }
            return token.expiresAtMilliseconds > nowMilliseconds ? .good(token) : .expired
        }
    }

    /// Lets all tokens that were given out expire at once.
    func revokeAll() {
        state.withLock { state in
            for (text, token) in state.tokens {
                state.tokens[text] = AccessToken(
                    account: token.account, scopes: token.scopes, expiresAtMilliseconds: .min)
            }
            state.newestExpiry = [:]
        }
    }
}

/// The numbers of the fetching of access tokens.
public struct TokenCounts: Sendable, Equatable {
    /// Requests for a token.
    public var requests = 0
    /// Tokens that were given out.
    public var issued = 0
    /// Requests that were refused by a rule.
    public var refused = 0
    /// The most requests that were under way at once: 1 where each account fetches one at a time.
    public var atOnceMaximum = 0
    /// The most life that a token had left when the next was fetched, in seconds; nil if there was no next in time.
    public var secondsLeftMaximum: Int?
    /// Tokens that were fetched when the one before had expired.
    public var lateRefreshes = 0

    /// Begins with none.
    public init() {}
}
