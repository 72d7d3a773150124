/// What happens to the bytes of a connection, below TLS.
enum WireFault: Hashable, Sendable {
    /// TCP is reset when so many bytes have been sent to the client.
    case reset(afterBytes: Int)
    /// Nothing is read and nothing is sent any more, when so many bytes have been sent to the client; TCP stays up.
    /// With 0 the handshake hangs.
    case silence(afterBytes: Int)
    /// At most so many bytes are sent to the client each millisecond.
    case drip(bytesPerMillisecond: Int)
}
