import EventLoop
import Glibc
import PushTestKit

/// A client that does not speak TLS.
public enum GarbageClient {
    /// How many samples there are.
    public static let sampleCount = 23

    /// Nothing, the beginnings of other protocols, and random bytes.
    public static func samples(seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        let random = (0..<20).map { round in
            // Every other sample pretends to be a TLS handshake record, so that the server reads on.
            let header: [UInt8] = round % 2 == 0 ? [] : [0x16, 0x03, 0x01, 0x00, UInt8(10 * round)]
            return header
                + (0..<Int.random(in: 1...4_000, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
        }
        return [[], Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)] + random
    }

    /// Connects, sends the bytes and closes; every third sample with a reset.
    public static func send(_ bytes: [UInt8], port: UInt16) throws {
        let descriptor = try TCPSocket.connect(host: "127.0.0.1", port: port)
        defer { close(descriptor) }
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&ready, 1, 10_000)
        _ = write(descriptor, bytes, bytes.count)
        guard bytes.count % 3 == 0 else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
