import EventLoop
import HTTPServer
import Metrics

/// The metrics of one route.
struct RouteMetrics: Sendable {
    let succeeded: Counter
    let refused: Counter
    let failed: Counter
    let duration: Histogram

    /// Counts an answer.
    func count(_ response: HTTPResponse, sinceNanoseconds began: UInt64) {
        switch response.status {
        case ..<400: succeeded.add()
        case ..<500: refused.add()
        default: failed.add()
        }
        duration.observe(nanoseconds: MonotonicClock.nowNanoseconds() &- began)
    }
}
