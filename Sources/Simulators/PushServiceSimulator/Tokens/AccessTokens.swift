import Essentials
import Synchronization

/// The access tokens that a token endpoint gave out, and the numbers of their fetching.
public final class AccessTokens<Grant: Sendable>: Sendable {
    private struct State {
        var tokens: [String: (grant: Grant, expiresAtMilliseconds: Int64)] = [:]
        var counts = TokenCounts()
        var underWay = 0
        /// When the newest token of each account expires, in milliseconds since 1970.
        var newestExpiry: [String: Int64] = [:]
    }

    /// How many tokens are kept; above that those go that have expired.
    private let tokensMaximum = 10_000
    private let state = Mutex(State())

    /// Begins without any.
    public init() {}

    /// The numbers so far.
    public var counts: TokenCounts { state.withLock { $0.counts } }

    /// Notes that a request for a token has come.
    public func fetchBegan() {
        state.withLock { state in
            state.counts.requests += 1
            state.underWay += 1
            state.counts.atOnceMaximum = max(state.counts.atOnceMaximum, state.underWay)
        }
    }

    /// Notes that a request for a token has been answered, or will never be.
    public func fetchEnded() { state.withLock { $0.underWay -= 1 } }

    /// Notes that a token was refused.
    public func refused() { state.withLock { $0.counts.refused += 1 } }

    /// Notes that a request for a token was answered wrongly on purpose.
    public func answeredFaultily() { state.withLock { $0.counts.faults += 1 } }

    /// Gives out a token.
    ///
    /// - Parameters:
    ///   - grant: the rights that it gives.
    ///   - account: the account that it is for.
    ///   - prefix: the beginning of its text.
    ///   - nowMilliseconds: the time, in milliseconds since 1970.
    ///   - lifeSeconds: how long it lives.
    /// - Returns: its text.
    public func issue(
        _ grant: Grant, to account: String, prefix: String, nowMilliseconds: Int64, lifeSeconds: Int
    ) -> String {
        let text = prefix + Base64URL.encode((0..<96).map { _ in .random(in: 0...255) })
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
            if state.tokens.count >= tokensMaximum {
                state.tokens = state.tokens.filter { $0.value.expiresAtMilliseconds > nowMilliseconds }
            }
            state.tokens[text] = (grant, expiry)
        }
        return text
    }

    /// The rights that a token gives; nil if it was never given out, was revoked, or has expired.
    public func grant(of token: String, nowMilliseconds: Int64) -> Grant? {
        state.withLock { state in
            state.tokens[token].flatMap { $0.expiresAtMilliseconds > nowMilliseconds ? $0.grant : nil }
        }
    }

    /// Lets all tokens that were given out expire at once.
    public func revokeAll() {
        state.withLock { state in
            state.tokens = [:]
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
    /// Requests that were answered wrongly on purpose, where the token endpoint has faults of its own.
    public var faults = 0
    /// The most requests that were under way at once: 1 where each account fetches one at a time.
    public var atOnceMaximum = 0
    /// The most life that a token had left when the next was fetched, in seconds; nil if there was no next in time.
    public var secondsLeftMaximum: Int?
    /// Tokens that were fetched when the one before had expired.
    public var lateRefreshes = 0

    /// Begins with none.
    public init() {}
}
