import EventLoop
import PushTestKit

/// Waits for conditions that nobody announces, up to a limit.
enum Deadline {
    private static let lookSeconds = 0.05

    /// The monotonic clock, in seconds.
    static func now() -> Double { Double(MonotonicClock.nowNanoseconds()) / 1_000_000_000 }

    /// Looks again and again until a condition is true.
    ///
    /// - Parameters:
    ///   - what: what is waited for, for the error.
    ///   - seconds: the limit.
    ///   - condition: looks.
    /// - Throws: `StageFailure` at the limit, and what the condition throws.
    static func wait(
        for what: @autoclosure () -> String, seconds: Double, until condition: () async throws -> Bool
    ) async throws {
        let end = now() + seconds
        while try await !condition() {
            guard now() < end else { throw StageFailure("\(what()): not within \(Int(seconds)) s") }
            try await Pause.seconds(lookSeconds)
        }
    }
}
