/// What is wrong with a line of an import.
struct DeviceLineProblem: Error {
    /// What is wrong, and what would be right; never a whole token.
    let message: String

    /// Creates a problem.
    init(_ message: String) {
        self.message = message
    }
}
