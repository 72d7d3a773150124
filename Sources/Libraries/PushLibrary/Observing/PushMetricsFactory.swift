import Notifications
internal import Synchronization

/// Makes the instruments of a client: the shape of swift-metrics' `MetricsFactory`, a function for each instrument.
///
/// | label, after `apns_`, `fcm_` or `webpush_` | dimensions | instrument |
/// |---|---|---|
/// | `pushes_total` | `app`, `outcome`: `accepted`, `rejected`, `not_processed`, `ambiguous` | counter |
/// | `push_duration` | `app` | timer, from sending to the answer |
/// | `pushes_in_flight` | `app` | meter |
///
/// `app` is the name of the configuration. All are made when the client is. They are called from its own thread and
/// from the callers' tasks, so they must return quickly.
public protocol PushMetricsFactory {
    /// Makes a counter; it is called with what to add to the sum.
    func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void
    /// Makes a timer; it is called with each duration, in nanoseconds.
    func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void
    /// Makes a meter, whose value goes up and down; it is called with each new value.
    func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void
}

/// The instruments of one app.
final class PushInstruments: Sendable {
    private let accepted: @Sendable (Int64) -> Void
    private let rejected: @Sendable (Int64) -> Void
    private let notProcessed: @Sendable (Int64) -> Void
    private let ambiguous: @Sendable (Int64) -> Void
    private let duration: @Sendable (Int64) -> Void
    private let inFlight: @Sendable (Double) -> Void
    private let inFlightCount = Atomic<Int>(0)

    init(label: String, app: String, factory: any PushMetricsFactory) {
        func counter(_ outcome: String) -> @Sendable (Int64) -> Void {
            factory.makeCounter(label: "\(label)_pushes_total", dimensions: [("app", app), ("outcome", outcome)])
        }
        accepted = counter("accepted")
        rejected = counter("rejected")
        notProcessed = counter("not_processed")
        ambiguous = counter("ambiguous")
        duration = factory.makeTimer(label: "\(label)_push_duration", dimensions: [("app", app)])
        inFlight = factory.makeMeter(label: "\(label)_pushes_in_flight", dimensions: [("app", app)])
    }

    func sent(_ count: Int) { changeInFlight(by: count) }

    /// Calls were cancelled before so many answers came.
    func cancelled(_ count: Int) {
        guard count > 0 else { return }
        ambiguous(Int64(count))
        changeInFlight(by: -count)
    }

    /// Attempts ended.
    func ended(_ results: ArraySlice<AttemptResult>) {
        var (accepted, rejected, notProcessed, ambiguous) = (0, 0, 0, 0)
        for result in results {
            switch result.outcome {
            case .answered(let answer):
                if answer.status == 200 { accepted += 1 } else { rejected += 1 }
                duration(Int64(clamping: result.durationNanoseconds))
            case .notProcessed, .unreachable, .crowdedOut: notProcessed += 1
            case .ambiguous: ambiguous += 1
            }
        }
        for (counter, count) in [
            (self.accepted, accepted), (self.rejected, rejected), (self.notProcessed, notProcessed),
            (self.ambiguous, ambiguous),
        ] where count > 0 { counter(Int64(count)) }
        changeInFlight(by: -results.count)
    }

    private func changeInFlight(by difference: Int) {
        inFlight(Double(inFlightCount.wrappingAdd(difference, ordering: .relaxed).newValue))
    }
}
