import ChangeEvents
import Metrics
import Synchronization

/// The reasons why a worker is not ready, in words; the pipeline writes them, the admin server's thread reads them.
public final class PipelineHealth: Sendable {
    /// The things that can be wrong, each with a reason of its own.
    public enum Concern: String, CaseIterable, Sendable {
        /// The worker does not consume.
        case source
        /// No push service can be reached for any app, so the worker consumes nothing.
        case apns
        /// A push service answers an app's pushes badly or not at all, or the app is slow.
        case services
        /// The worker cannot requeue what fails.
        case publisher
        /// The registry does not answer.
        case registry
        /// The subscriptions to records have not all been read yet.
        case subscriptions
        /// An operator has paused an app, or all.
        case paused
        /// A push service does not accept the key of an app.
        case key
        /// The push services accept the key of no app.
        case everyKey = "every-key"
        /// A push service calls most tokens of an app bad.
        case tokens
        /// The broker does not take requeued messages.
        case requeuing
        /// The worker is shutting down.
        case draining

        /// Whether the worker stays ready with this problem, because another worker would have it, too.
        ///
        /// Readiness decides whether a rollout goes on. A rollout that waits for a push service also keeps back the
        /// release or the configuration that would repair the connection, such as another proxy. One that waits for an
        /// operator keeps back the release that was paused for. The refused key of one app among many stops no rollout
        /// either.
        public var onlyDegrades: Bool { self == .apns || self == .services || self == .paused || self == .key }
    }

    /// How the wait for the first delivery ended.
    public enum Beginning: Hashable, Sendable {
        /// The worker consumes.
        case consumes
        /// RabbitMQ lacks something that the worker needs, or refuses it; waiting changes nothing.
        case refused(String)
        /// Time ran out, or the wait was cancelled, with the reason why the worker does not consume.
        case gaveUp(String)
    }

    private struct State {
        var reasons: [Concern: String] = [
            .source: "not connected to RabbitMQ yet", .subscriptions: "reads the subscriptions of the registry",
        ]
        /// Whether nothing is consumed by intention, so that it is no fault if the broker has no consumer.
        var isConsumptionStopped = false
        var beginning: Beginning?
        var waiter: CheckedContinuation<Beginning, Never>?

        /// The reason for a concern that counts now.
        func reason(of concern: Concern) -> String? {
            concern == .source && isConsumptionStopped ? nil : reasons[concern]
        }

        /// The answer for the waiter, who is not asked again.
        mutating func takeWaiter() -> CheckedContinuation<Beginning, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Mutex(State())

    init() {}

    /// Makes a gauge for each concern, which is read when the metrics are rendered.
    func register(in registry: MetricsRegistry) {
        for concern in Concern.allCases {
            registry.gauge(
                "apus_readiness_check_failing", help: "1 while this check of /readyz fails.",
                labels: [.init("check", concern.rawValue)]
            ) { self.state.withLock { $0.reason(of: concern) } == nil ? 0 : 1 }
        }
    }

    func set(_ concern: Concern, _ reason: String?) { state.withLock { $0.reasons[concern] = reason } }

    /// Nothing is consumed from now on, by intention; or it is again.
    func consumptionChanged(isStopped: Bool) { state.withLock { $0.isConsumptionStopped = isStopped } }

    func sourceStateChanged(_ source: DeliverySourceState) {
        let (reason, beginning): (String?, Beginning?) =
            switch source {
            case .consuming: (nil, .consumes)
            case .interrupted(let reason): ("not consuming: \(reason)", nil)
            case .misconfigured(let reason), .refused(let reason):
                ("cannot consume: \(reason)", .refused(reason))
            case .cancelled: ("stopped consuming", nil)
            }
        let waiter = state.withLock { state in
            state.reasons[.source] = reason
            state.beginning = beginning
            return beginning == nil ? nil : state.takeWaiter()
        }
        if let beginning { waiter?.resume(returning: beginning) }
    }

    /// Waits until the worker consumes, or cannot; to be asked by one caller at a time.
    ///
    /// - Parameter timeoutSeconds: the longest wait.
    /// - Returns: how it ended; a cancelled task gives up at once.
    public func waitUntilConsuming(timeoutSeconds: Double) async -> Beginning {
        let timer = Task {
            try await Task.sleep(for: .seconds(timeoutSeconds))
            giveUp()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let beginning = state.withLock { state in
                    if state.beginning == nil { state.waiter = continuation }
                    return state.beginning
                }
                if let beginning { continuation.resume(returning: beginning) }
                if Task.isCancelled { giveUp() }
            }
        } onCancel: {
            giveUp()
        }
    }

    private func giveUp() {
        let (waiter, reason) = state.withLock { ($0.takeWaiter(), $0.reasons[.source] ?? $0.reasons[.subscriptions]) }
        waiter?.resume(returning: .gaveUp(reason ?? "it did not begin in time"))
    }

    /// Why the worker is not ready, most important first; empty if it is.
    public var problems: [String] { checks.compactMap(\.reason) }

    /// Every concern with its reason, nil where all is well.
    public var checks: [(concern: Concern, reason: String?)] {
        state.withLock { state in Concern.allCases.map { ($0, state.reason(of: $0)) } }
    }
}
