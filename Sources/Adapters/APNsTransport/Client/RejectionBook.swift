import ConnectionPool
internal import Metrics
import Notifications

/// Which tokens of a route were rejected lately; both lanes of the route write it, the client reads it for each push.
///
/// Lives on the client's loop.
final class RejectionBook {
    private var rejections: RecentRejections
    private let log: RouteLog

    init(seed: UInt64, log: RouteLog) {
        rejections = RecentRejections(seed: seed)
        self.log = log
    }

    /// Whether a push to this token belongs into quarantine.
    func isSuspect(_ token: borrowing DeviceToken, nowNanoseconds: UInt64) -> Bool {
        guard !rejections.isEmpty, rejections.contains(token, nowNanoseconds: nowNanoseconds) else { return false }
        log.metrics.quarantined.add()
        return true
    }

    /// Notes an answer.
    func note(_ answer: PushAnswer, about token: DeviceToken, nowNanoseconds: UInt64) {
        if answer.status == 200 {
            rejections.accepted(token)
        } else if answer.blamesToken {
            rejections.rejected(token, nowNanoseconds: nowNanoseconds)
        }
    }
}
