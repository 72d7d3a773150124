/// How many bytes a peer may send over a connection: a budget that grows with time and with each stream that has ended,
/// up to a burst.
///
/// HTTP/2 has many ways to send without an end: bodies, empty frames, informational answers, PING, SETTINGS, frames of
/// unknown types. Each costs the receiver time, and the others on its loop as well. A peer that only answers needs few
/// bytes for each answer, whatever it sends.
public struct InputAllowance: Sendable, Hashable {
    private let burstBytes: Int
    private let bytesPerSecond: Int
    private let bytesPerStream: Int
    private var bytesLeft: Int
    private var filledNanoseconds: UInt64?

    /// Describes a budget.
    ///
    /// - Parameters:
    ///   - burstBytes: how many bytes there are at the beginning, and at any time at most.
    ///   - bytesPerSecond: how many come with each second.
    ///   - bytesPerStream: how many come with each stream that ends.
    public init(burstBytes: Int, bytesPerSecond: Int, bytesPerStream: Int) {
        self.burstBytes = max(0, burstBytes)
        self.bytesPerSecond = max(0, bytesPerSecond)
        self.bytesPerStream = max(0, bytesPerStream)
        bytesLeft = self.burstBytes
    }

    /// A stream has ended.
    mutating func streamEnded() { bytesLeft = min(burstBytes, bytesLeft + bytesPerStream) }

    /// Takes received bytes from the budget.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - nowNanoseconds: the time, which is looked at only if the budget is short.
    /// - Returns: whether there were as many.
    mutating func takes(_ count: Int, nowNanoseconds: @autoclosure () -> UInt64) -> Bool {
        if bytesLeft - count < burstBytes / 2 { fill(nowNanoseconds()) }
        bytesLeft -= count
        return bytesLeft >= 0
    }

    private mutating func fill(_ nowNanoseconds: UInt64) {
        // The first time it only begins to count time.
        let milliseconds = (nowNanoseconds &- min(nowNanoseconds, filledNanoseconds ?? nowNanoseconds)) / 1_000_000
        guard filledNanoseconds == nil || milliseconds > 0 else { return }
        filledNanoseconds = nowNanoseconds
        let (grown, isTooMuch) = Int(clamping: milliseconds).multipliedReportingOverflow(by: bytesPerSecond)
        bytesLeft = isTooMuch ? burstBytes : min(burstBytes, bytesLeft + grown / 1_000)
    }
}
