/// Why a scenario could not be played to its end.
struct StageFailure: Error, CustomStringConvertible {
    /// What did not happen, and what was seen instead.
    let description: String

    init(_ description: String) { self.description = description }
}
