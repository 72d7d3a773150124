/// One way in which a simulator misbehaves on purpose.
public enum Fault: Hashable, Sendable {
    /// Which streams a GOAWAY says it has processed.
    public enum LastStream: Hashable, Sendable {
        /// All streams that have come.
        case newest
        /// No answer.
        case none
        /// All before the request that the fault befell.
        case previous
        /// All up to this one.
        case upTo(Int32)
    }

    /// The endless part of an answer.
    public enum Endless: String, Hashable, Sendable {
        /// The body, after the final status.
        case body
        /// Informational answers: the final status never comes.
        case information
    }

    // The faults of a request.

    /// GOAWAY, with the service's reason as debug data if there is one; streams above the last one are dropped.
    case goAway(LastStream, errorCode: UInt32, reason: String?)
    /// RST_STREAM in place of an answer.
    case resetStream(errorCode: UInt32)
    /// SETTINGS with so many streams, and with the usual number after some time.
    case streamLimit(Int, backAfterMilliseconds: Int)
    /// From here on every request on the connection is answered as if its credentials had expired.
    case wedgeConnection
    /// An answer in place of the right one.
    case answer(ServiceAnswer)
    /// No answer, ever.
    case silence
    /// The request is served and recorded, and its answer does not come: a repetition is a duplicate.
    case loseAnswer
    /// The right answer, whose body ends after so many bytes.
    case cutAnswer(afterBytes: Int)
    /// The right answer, so much later.
    case delay(milliseconds: Int)
    /// An answer that never ends: with this status and a body, or informational answers before any final one.
    case endless(Endless, status: Int)

    // The faults of a connection.

    /// The bytes of the connection are tampered with.
    case wire(WireFault)
    /// The connection's flow-control window begins with so many bytes, and so many are added each time.
    case window(bytes: Int, addedBytes: Int, everyMilliseconds: Int)
    /// The certificate is made out to another name.
    case foreignCertificate

    /// Whether it is decided about when a connection comes, and not when a request does.
    var befallsConnections: Bool {
        switch self {
        case .wire, .window, .foreignCertificate: true
        default: false
        }
    }
}

/// A fault in the bytes of a connection, below TLS.
public enum WireFault: Hashable, Sendable {
    /// TCP is reset when so many bytes have been sent to the client.
    case reset(afterBytes: Int)
    /// The connection neither reads nor sends after so many bytes to the client; TCP stays up.
    ///
    /// With 0 the handshake hangs.
    case silence(afterBytes: Int)
    /// At most so many bytes are sent to the client each millisecond.
    case drip(bytesPerMillisecond: Int)
    /// TCP ends, without a word of TLS or HTTP/2, when nothing has gone either way for so long.
    case endWhenIdle(afterMilliseconds: Int)
}
