import Crypto
import Essentials
internal import EventLoop
internal import ServiceClient

/// Authenticates the requests to one origin with the tokens of one key.
///
/// Any thread may ask. The tokens, and how often they change, are `VAPIDTokenSource`'s.
final class VAPIDAuthorizer: Authorizer {
    /// Reads both clocks.
    typealias Clock = @Sendable () -> Moment

    /// The clocks of the system.
    static let systemClock: Clock = {
        Moment(
            wall: WallTime(milliseconds: WallClock.nowMilliseconds()),
            monotonic: MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds()))
    }

    private let source: VAPIDTokenSource
    private let audience: VAPIDAudience
    private let clock: Clock

    init(source: VAPIDTokenSource, audience: VAPIDAudience, clock: @escaping Clock = systemClock) {
        self.source = source
        self.audience = audience
        self.clock = clock
    }

    func authorization() -> AuthorizationState {
        state { () throws(CryptoError) in try source.token(for: audience, at: clock()) }
    }

    func authorizationExpired(generation: UInt64) -> AuthorizationState {
        state { () throws(CryptoError) in
            try source.tokenRefused(for: audience, generation: generation, at: clock())
        }
    }

    private func state(_ token: () throws(CryptoError) -> VAPIDToken) -> AuthorizationState {
        do throws(CryptoError) {
            let token = try token()
            return .ready(
                Authorization(
                    generation: token.generation, keyGeneration: 1, headerValue: token.headerValue))
        } catch {
            return .unavailable(reason: "the VAPID key does not sign: \(error.message)")
        }
    }
}
