/// How a push ended without an answer, and why.
public enum PushEnding: Hashable, Sendable {
    /// Why a push was certainly not processed.
    public enum NotProcessedCause: Hashable, Sendable {
        /// It found no stream before its deadline.
        case waitedTooLong
        /// The peer refused its stream (REFUSED_STREAM), again and again.
        case refused
        /// It was above the last stream of a GOAWAY, again and again.
        case aboveGoAway
        /// The connection was lost before it was written, again and again.
        case neverWritten
        /// The pool is closing.
        case closing
        /// The peer refuses the provider token, again and again, whatever push comes with it.
        case tokenRefused
        /// The endpoint proved unusable: its certificate is not trusted, or it does not speak HTTP/2.
        case endpointUnusable
        /// It could not be handed to the connection, again and again.
        case notAccepted
    }

    /// Why nobody can know whether a push was processed.
    public enum AmbiguousCause: Hashable, Sendable {
        /// No answer came before its deadline.
        case deadline
        /// The connection was lost after it was written.
        case connectionLost
        /// The peer reset its stream with an error that says nothing about processing.
        case streamReset(errorCode: UInt32)
        /// The pool closed before an answer came.
        case closing
    }

    /// Certainly not processed.
    case notProcessed(NotProcessedCause)
    /// Perhaps processed.
    case ambiguous(AmbiguousCause)
}
