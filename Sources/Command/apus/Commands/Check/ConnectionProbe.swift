/// One thing that `apus check --connect` tries out.
struct ConnectionProbe: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        /// It works; the text says what was found.
        case ok(String)
        /// It does not; the text says why and what to do, the code becomes the exit code.
        case failed(String, ExitCode)
        /// It was not tried, because of what the text says.
        case skipped(String)
    }

    /// What is tried, for example `broker`; distinct.
    let name: String
    /// The name of the probe without whose success this one is not worth trying.
    var prerequisite: String?
    /// Tries it; ends by itself within a minute at most, and leaves nothing behind.
    let run: @Sendable () async -> Outcome
}
