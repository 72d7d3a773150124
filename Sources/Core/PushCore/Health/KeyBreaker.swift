public import Essentials

/// Stops sending for an app whose key APNs does not accept, and finds out when it does again.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | closed | pushes flow | open, when an answer says that the key is wrong |
/// | open | pushes are parked | probing, when `probeIntervalMilliseconds` have passed and a push comes |
/// | probing | one push is out, the others are parked | closed, on another answer; open, if still wrong or unanswered |
public struct KeyBreaker: Hashable, Sendable {
    /// The states.
    public enum State: Hashable, Sendable {
        /// Pushes flow.
        case closed
        /// Pushes are parked until then.
        case open(until: MonotonicTime)
        /// One push is out to see.
        case probing
    }

    /// How long the breaker stays open before one push tries the key.
    public static let probeIntervalMilliseconds: Int64 = 30_000

    /// The state now.
    public private(set) var state = State.closed

    /// Creates a closed breaker.
    public init() {}

    /// Whether the next push may be sent; a true answer in the open state makes that push the probe.
    public mutating func admits(at now: MonotonicTime) -> Bool {
        switch state {
        case .closed: return true
        case .probing: return false
        case .open(let until):
            guard now >= until else { return false }
            state = .probing
            return true
        }
    }

    /// APNs answered something that is not about the key.
    public mutating func keyWasAccepted() { state = .closed }

    /// APNs did not accept the key.
    public mutating func keyWasRejected(at now: MonotonicTime) {
        state = .open(until: now.advanced(byMilliseconds: UInt64(Self.probeIntervalMilliseconds)))
    }

    /// The attempt ended without an answer, which says nothing about the key; a probe is taken back.
    public mutating func attemptWasUnanswered(at now: MonotonicTime) {
        if state == .probing { keyWasRejected(at: now) }
    }
}
