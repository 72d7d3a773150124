/// How long to wait before connecting again: exponential, capped, with full jitter.
///
/// The wait after `n` failures in a row is drawn evenly from zero to `min(cap, base * 2^(n - 1))`. Full jitter keeps
/// replicas that lost the same server from coming back all at once. With the defaults:
///
/// | failures in a row | longest wait | mean |
/// |---|---|---|
/// | 1 | 200 ms | 100 ms |
/// | 2 | 400 ms | 200 ms |
/// | 3 | 800 ms | 400 ms |
/// | 5 | 3.2 s | 1.6 s |
/// | 8 | 25.6 s | 12.8 s |
/// | 9 and more | 30 s | 15 s |
public struct BackOff: Hashable, Sendable {
    /// The longest wait after the first failure, in nanoseconds.
    public var baseNanoseconds: UInt64
    /// The longest wait of all, in nanoseconds.
    public var capNanoseconds: UInt64

    /// Creates a back-off.
    public init(baseNanoseconds: UInt64 = 200_000_000, capNanoseconds: UInt64 = 30_000_000_000) {
        self.baseNanoseconds = baseNanoseconds
        self.capNanoseconds = capNanoseconds
    }

    /// The longest wait after a number of failures in a row, in nanoseconds.
    public func longestWaitNanoseconds(afterFailures failures: Int) -> UInt64 {
        guard failures > 0 else { return 0 }
        let doublings = UInt64(min(failures - 1, 62))
        let (product, overflow) = baseNanoseconds.multipliedReportingOverflow(by: 1 << doublings)
        return overflow ? capNanoseconds : min(capNanoseconds, product)
    }

    /// Draws a wait after a number of failures in a row, in nanoseconds.
    public func waitNanoseconds(
        afterFailures failures: Int, using random: inout some RandomNumberGenerator
    ) -> UInt64 {
        UInt64.random(in: 0...longestWaitNanoseconds(afterFailures: failures), using: &random)
    }
}
