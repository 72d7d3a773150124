import Synchronization

/// What keeps a worker from being ready, in words; written by the pipeline, read by the admin server's thread.
public final class PipelineHealth: Sendable {
    /// The things that can be wrong, each with a reason of its own.
    public enum Concern: String, CaseIterable, Sendable {
        /// The worker does not consume.
        case source
        /// APNs cannot be reached for any app, so nothing is consumed.
        case apns
        /// The worker cannot park what fails.
        case publisher
        /// The registry does not answer.
        case registry
        /// The subscriptions to records have not all been read yet.
        case subscriptions
        /// APNs does not accept the key of an app.
        case key
        /// APNs calls most tokens of an app bad.
        case tokens
        /// The broker does not take parked messages.
        case parking
        /// The worker is shutting down.
        case draining
    }

    private let reasons = Mutex<[Concern: String]>([
        .source: "not connected to RabbitMQ yet", .subscriptions: "reads the subscriptions of the registry",
    ])

    init() {}

    func set(_ concern: Concern, _ reason: String?) {
        reasons.withLock { $0[concern] = reason }
    }

    /// Why the worker is not ready, most important first; empty if it is.
    public var problems: [String] { checks.compactMap(\.reason) }

    /// Every concern with its reason, nil where all is well.
    public var checks: [(concern: Concern, reason: String?)] {
        reasons.withLock { reasons in Concern.allCases.map { ($0, reasons[$0]) } }
    }
}
