import EventLoop
import HTTPServer
import RegistryCore
import StructuredLogging
import Synchronization

/// Limits the rate of each credential, and the failed authentications of an address.
final class CredentialGuard: Sendable {
    /// How many failed authentications an address may make in a second, and at once.
    private static let failuresPerSecond = 1
    private static let failuresAtOnce = 30
    private static let burstFactor = 4
    /// How many tokens are remembered; there are a few.
    private static let knownMaximum = 10_000
    /// For how long a token that was in the registry need not be looked up for each request with events.
    private static let freshNanoseconds: UInt64 = 1_000_000_000

    private struct KnownToken {
        let token: APIToken
        let foundAtNanoseconds: UInt64
    }

    private let requests: Mutex<RequestBudget>
    private let events: Mutex<RequestBudget>
    private let failures: Mutex<RequestBudget>
    /// The tokens that were found in the registry, by their digests.
    private let known = Mutex<[[UInt8]: KnownToken]>([:])
    private let logger: Logger

    init(requestsPerSecondMaximum: Int, eventsPerSecondMaximum: Int = 1, logger: Logger) {
        requests = Mutex(
            RequestBudget(
                ratePerSecond: requestsPerSecondMaximum, burst: Self.burstFactor * requestsPerSecondMaximum))
        events = Mutex(
            RequestBudget(ratePerSecond: eventsPerSecondMaximum, burst: Self.burstFactor * eventsPerSecondMaximum))
        failures = Mutex(RequestBudget(ratePerSecond: Self.failuresPerSecond, burst: Self.failuresAtOnce))
        self.logger = logger
    }

    /// Counts a failed authentication.
    ///
    /// An address that fails often has to wait. But a valid credential is accepted at once even from that address,
    /// because a proxy may stand in front of all clients.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - reason: the reason, for the log; no secret.
    /// - Returns: nil, or in how many seconds to try again, if too many requests from there have failed.
    func authenticationFailed(_ request: HTTPRequest, _ reason: String) -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        logger.log(
            .warning, "registry.authentication.failed",
            [.field("address", request.clientAddress), .field("reason", reason)])
        return failures.withLock { $0.take(request.clientShare, nowNanoseconds: now) }
    }

    /// Whether a token was in the registry when it was last shown.
    func isKnown(_ digest: [UInt8]) -> Bool { known.withLock { $0[digest] != nil } }

    /// The token with a digest, if it was in the registry within the last second.
    func freshToken(_ digest: [UInt8]) -> APIToken? {
        let now = MonotonicClock.nowNanoseconds()
        return known.withLock { known in
            guard let found = known[digest], now < found.foundAtNanoseconds + Self.freshNanoseconds else { return nil }
            return found.token
        }
    }

    /// A token was found in the registry.
    func remember(_ token: APIToken) {
        let found = KnownToken(token: token, foundAtNanoseconds: MonotonicClock.nowNanoseconds())
        known.withLock { known in
            if known.count >= Self.knownMaximum { known.removeAll() }
            known[token.digest] = found
        }
    }

    /// A token was not found.
    func forget(_ digest: [UInt8]) { known.withLock { known in known[digest] = nil } }

    /// Takes one request of a credential: nil if it may be made, else in how many seconds the next may.
    func take(_ credential: String) -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        return requests.withLock { $0.take(credential, nowNanoseconds: now) }
    }

    /// Takes an event of a token: nil if it may be published, else in how many seconds the next may.
    func takeEvent(of token: APIToken) -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        return events.withLock { $0.take(token.name, nowNanoseconds: now) }
    }

    /// Takes the further events of a request that has taken one, whether there are so many or not: the token waits
    /// longer for the next.
    func oweEvents(of token: APIToken, count: Int) {
        guard count > 0 else { return }
        let now = MonotonicClock.nowNanoseconds()
        events.withLock { $0.owe(token.name, count, nowNanoseconds: now) }
    }
}
