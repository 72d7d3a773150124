/// One way in which the simulator misbehaves on purpose.
enum Fault: Hashable, Sendable {
    /// Which streams a GOAWAY says it has processed.
    enum LastStream: Hashable, Sendable {
        /// All that have come.
        case newest
        /// No answer.
        case none
        /// All before the request that the fault befell.
        case previous
        /// All up to this one.
        case upTo(Int32)
    }

    // The faults of a request.

    /// GOAWAY, with Apple's reason as debug data if there is one; streams above the last one are dropped.
    case goAway(LastStream, errorCode: UInt32, reason: String?)
    /// RST_STREAM in place of an answer.
    case resetStream(errorCode: UInt32)
    /// SETTINGS with so many streams, and with the usual number after some time.
    case streamLimit(Int, backAfterMilliseconds: Int)
    /// From here on every request on the connection is answered 403 `ExpiredProviderToken`, with any token.
    case wedgeConnection
    /// An answer in place of the right one.
    case answer(FaultyAnswer)
    /// No answer, ever.
    case silence
    /// The right answer, so much later.
    case delay(milliseconds: Int)

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

/// An answer that APNs would not give, or not to this request.
struct FaultyAnswer: Hashable, Sendable {
    /// The HTTP status.
    var status = 200
    /// The reason that stands in the body, for the record; nil if there is none.
    var reason: String?
    /// The body, whether it is JSON or not.
    var body: [UInt8] = []
    /// The header `retry-after`.
    var retryAfter: String?
    /// The number of bytes of extra headers.
    var extraHeaderBytes = 0
}

/// A fault in the bytes of a connection, below TLS.
enum WireFault: Hashable, Sendable {
    /// TCP is reset when so many bytes have been sent to the client.
    case reset(afterBytes: Int)
    /// The connection neither reads nor sends after so many bytes to the client; TCP stays up.
    ///
    /// With 0 the handshake hangs.
    case silence(afterBytes: Int)
    /// At most so many bytes are sent to the client each millisecond.
    case drip(bytesPerMillisecond: Int)
}
