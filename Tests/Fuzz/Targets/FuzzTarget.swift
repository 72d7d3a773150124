/// One part of the project that reads bytes from outside, and the promises that must hold for all bytes.
protocol FuzzTarget: Sendable {
    /// Runs the part with one input.
    ///
    /// An input that is refused is no failure. A trap, a broken promise, too much time or too much memory is one.
    ///
    /// - Parameter input: the bytes; the same bytes must do the same.
    /// - Throws: `FuzzFailure` if a promise is broken.
    func run(_ input: FuzzInput) throws(FuzzFailure)
}

/// A promise that an input broke.
struct FuzzFailure: Error {
    /// The broken promise, and the observation.
    let message: String

    init(_ message: String) { self.message = message }
}

/// The targets by the names of their corpus folders.
enum FuzzTargets {
    static let all: [String: any FuzzTarget] = [
        "amqp": AMQPFuzzTarget(),
        "answer": AnswerFuzzTarget(),
        "api": APIFuzzTarget(),
        "encrypted": EncryptedFuzzTarget(),
        "event": EventFuzzTarget(),
        "http": HTTPFuzzTarget(),
        "json": JSONFuzzTarget(),
        "predicates": PredicateFuzzTarget(),
        "services": ServicesFuzzTarget(),
        "toml": ConfigurationFuzzTarget(),
        "traces": TraceFuzzTarget(),
    ]
}

/// Throws unless a promise holds.
func promise(_ isKept: Bool, _ message: @autoclosure () -> String) throws(FuzzFailure) {
    guard isKept else { throw FuzzFailure(message()) }
}
