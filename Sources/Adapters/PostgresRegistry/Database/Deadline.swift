import EventLoop

/// Until when a call may take, by the monotonic clock.
struct Deadline {
    private let endNanoseconds: UInt64
    /// The whole time, in milliseconds, for messages.
    let milliseconds: Int

    /// Begins now.
    init(milliseconds: Int) {
        self.milliseconds = milliseconds
        endNanoseconds = MonotonicClock.nowNanoseconds() &+ UInt64(max(milliseconds, 0)) * 1_000_000
    }

    /// A deadline for the first of several tries that share what is left of this one.
    func share(of count: Int) -> Deadline {
        count > 1 ? Deadline(milliseconds: Int(remainingMilliseconds) / count) : self
    }

    /// What is left, in milliseconds and rounded up, so that a wait never ends before the deadline; 0 if it has passed.
    var remainingMilliseconds: Int32 {
        let now = MonotonicClock.nowNanoseconds()
        return now >= endNanoseconds ? 0 : Int32(clamping: (endNanoseconds - now + 999_999) / 1_000_000)
    }
}
