/// The faults of a simulation.
public enum SimulatedFault: String, CaseIterable, Sendable {
    /// A worker dies at any step, and another starts later.
    case kill
    /// A worker is asked to end, and another starts later.
    case drain
    /// The connection that consumes is lost.
    case consumer
    /// The connection that publishes is lost, with confirms under way.
    case publisher
    /// Confirms come late.
    case confirms
    /// Publishes are refused (`basic.nack`).
    case nack
    /// A retry queue is missing, so publishes to it are returned.
    case missing
    /// The broker never takes copies of large messages.
    case oversize
    /// The broker blocks publishers.
    case blocked
    /// A queue elects a leader: it hands out nothing meanwhile, and everything that was handed out again.
    case leader
    /// The registry is slow.
    case registrySlow = "registry-slow"
    /// The registry does not answer.
    case registryDown = "registry-down"
    /// The registry can only be read.
    case registryReadOnly = "registry-read-only"
    /// The registry executes its requests, and its answers are lost.
    case registryFailover = "registry-failover"
    /// The pushes of an app take seconds.
    case slow
    /// The pushes of an app are not answered.
    case silent
    /// The key of an app is rejected.
    case key
    /// The push service refuses the credentials of the first app for some devices, and for one environment.
    case credentials
    /// The push service answers 500 for an app.
    case errors
    /// The push service answers 429 for an app.
    case throttled
    /// The push service cannot be reached for an app.
    case unreachable
    /// An operator pauses an app.
    case pause
    /// An operator pauses every app.
    case pauseAll = "pause-all"
    /// The push service cannot be reached at all.
    case outage
    /// A worker has the environment of an app wrong, so all its tokens are called bad.
    case environment
    /// Single pushes are lost, not processed, throttled or answered with 5xx.
    case answers
    /// The wall clock of a worker is set forwards or backwards.
    case clock
    /// Devices leave, come back, and get new tokens.
    case devices
    /// Backends publish an event twice.
    case twice

    /// How many seconds pass between two of them on average; nil for one that lasts for the whole run.
    var intervalSeconds: Int? {
        switch self {
        case .answers, .twice, .oversize: nil
        case .kill, .consumer, .publisher: 20
        case .devices: 1
        case .outage, .environment, .drain, .pauseAll: 90
        default: 45
        }
    }

    /// How many milliseconds it lasts.
    var durationMilliseconds: ClosedRange<Int> {
        switch self {
        case .leader: 100...3_000
        case .registrySlow, .registryDown, .registryReadOnly, .registryFailover: 500...20_000
        case .blocked, .missing: 500...15_000
        case .environment: 10_000...60_000
        default: 2_000...45_000
        }
    }
}
