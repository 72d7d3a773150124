import EventLoop

/// Until when a call may take, by the monotonic clock.
public struct Deadline: Sendable {
    private let endNanoseconds: UInt64
    /// The whole time, in milliseconds, for messages.
    public let milliseconds: Int

    /// Begins now.
    public init(milliseconds: Int) {
        self.milliseconds = milliseconds
        endNanoseconds = MonotonicClock.nowNanoseconds() &+ UInt64(max(milliseconds, 0)) * 1_000_000
    }

    /// Returns the deadline of one try, when several tries share the time that is left.
    ///
    /// - Parameter count: how many tries are still to come, this one included.
    /// - Returns: a deadline after an equal share of the time.
    public func share(of count: Int) -> Deadline {
        count > 1 ? Deadline(milliseconds: Int(remainingMilliseconds) / count) : self
    }

    /// The remaining milliseconds, rounded up, so that a wait never ends before the deadline; 0 if it has passed.
    public var remainingMilliseconds: Int32 {
        let now = MonotonicClock.nowNanoseconds()
        return now >= endNanoseconds ? 0 : Int32(clamping: (endNanoseconds - now + 999_999) / 1_000_000)
    }
}
