import EventLoop
import HTTPServer
import PushCore
import Synchronization

/// Limits how often each credential is used, and how often an address may be wrong.
final class CredentialGuard: Sendable {
    /// How many failed authentications an address may make in a second, and at once.
    private static let failuresPerSecond = 10
    private static let failuresAtOnce = 50
    private static let burstFactor = 4

    private let requests: Mutex<RequestBudget>
    private let failures: Mutex<RequestBudget>
    private let logger: Logger

    init(requestsPerSecondMaximum: Int, logger: Logger) {
        requests = Mutex(
            RequestBudget(
                ratePerSecond: requestsPerSecondMaximum, burst: Self.burstFactor * requestsPerSecondMaximum))
        failures = Mutex(RequestBudget(ratePerSecond: Self.failuresPerSecond, burst: Self.failuresAtOnce))
        self.logger = logger
    }

    /// In how many seconds the sender may try to authenticate himself again; nil if he may now.
    func waitBeforeAuthentication(_ request: HTTPRequest) -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        return failures.withLock { $0.wait(request.clientAddress, nowNanoseconds: now) }
    }

    /// Counts a failed authentication.
    ///
    /// - Parameters:
    ///   - request: what was sent.
    ///   - reason: what was wrong, for the log; no secret.
    func authenticationFailed(_ request: HTTPRequest, _ reason: String) {
        let now = MonotonicClock.nowNanoseconds()
        failures.withLock { _ = $0.take(request.clientAddress, nowNanoseconds: now) }
        logger.log(
            .warning, "registry.authentication.failed",
            [.field("address", request.clientAddress), .field("reason", reason)])
    }

    /// Takes one request of a credential: nil if it may be made, else in how many seconds the next may.
    func take(_ credential: String) -> Int? {
        let now = MonotonicClock.nowNanoseconds()
        return requests.withLock { $0.take(credential, nowNanoseconds: now) }
    }
}
