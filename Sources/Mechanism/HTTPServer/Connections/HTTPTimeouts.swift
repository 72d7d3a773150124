/// How long the parts of a connection's life may take, in nanoseconds.
struct HTTPTimeouts {
    private static let nanosecondsPerSecond: UInt64 = 1_000_000_000

    /// From the beginning of the connection, or of a request, to the end of its head.
    let headNanoseconds: UInt64
    /// From the head to the end of the body.
    let bodyNanoseconds: UInt64
    /// Between two requests.
    let idleNanoseconds: UInt64
    /// Until an answer has left.
    let answerNanoseconds: UInt64
    /// From the last answer until the client closes.
    let lingeringNanoseconds: UInt64

    init(_ configuration: HTTPServerConfiguration) {
        func nanoseconds(_ seconds: Int) -> UInt64 { UInt64(max(seconds, 0)) * Self.nanosecondsPerSecond }
        headNanoseconds = nanoseconds(configuration.headSecondsMaximum)
        bodyNanoseconds = nanoseconds(configuration.bodySecondsMaximum)
        idleNanoseconds = nanoseconds(configuration.idleSecondsMaximum)
        answerNanoseconds = nanoseconds(configuration.answerSecondsMaximum)
        lingeringNanoseconds = nanoseconds(configuration.lingeringSecondsMaximum)
    }
}
