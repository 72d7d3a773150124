/// Lets time pass, for faults that last and for loads that have a rate; a test that waits for an event uses `Watched`.
public enum Pause {
    /// Goes on after this long.
    ///
    /// - Parameter seconds: how long.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public static func seconds(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1_000_000_000))
    }
}
