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
        /// Pushes are parked until then, in wall milliseconds.
        case open(untilMilliseconds: Int64)
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
    public mutating func admits(nowMilliseconds: Int64) -> Bool {
        switch state {
        case .closed: return true
        case .probing: return false
        case .open(let until):
            // A wall clock that was set back must not keep an app closed for longer than one interval.
            guard nowMilliseconds >= until || until - nowMilliseconds > Self.probeIntervalMilliseconds else {
                return false
            }
            state = .probing
            return true
        }
    }

    /// APNs answered something that is not about the key.
    public mutating func keyWasAccepted() { state = .closed }

    /// APNs did not accept the key.
    public mutating func keyWasRejected(nowMilliseconds: Int64) {
        state = .open(untilMilliseconds: nowMilliseconds + Self.probeIntervalMilliseconds)
    }

    /// The attempt ended without an answer, which says nothing about the key; a probe is taken back.
    public mutating func attemptWasUnanswered(nowMilliseconds: Int64) {
        if state == .probing { keyWasRejected(nowMilliseconds: nowMilliseconds) }
    }
}
