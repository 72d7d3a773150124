import EventLoop
import Glibc
import PushTestKit
import Testing

/// A client and a server that are connected through a `FaultProxy`; reading and writing wait, each with a deadline.
final class ProxiedPair: Sendable {
    /// How a stream ended.
    enum Ending: Equatable {
        case finished
        case reset
        case open
    }

    private static let deadlineMilliseconds: Int32 = 60_000

    let client: Int32
    let server: Int32

    /// Connects through a proxy.
    init(_ listener: Int32, through proxy: FaultProxy) throws {
        client = try TCPSocket.connect(host: "127.0.0.1", port: proxy.port)
        try #require(Self.wait(listener, POLLIN))
        server = try #require(try TCPSocket.accept(listener))
    }

    deinit {
        close(client)
        close(server)
    }

    static func wait(_ socket: Int32, _ events: Int32, milliseconds: Int32 = deadlineMilliseconds) -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        return poll(&descriptor, 1, milliseconds) == 1
    }

    /// Writes all, or less if the stream breaks.
    static func write(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty, wait(socket, POLLOUT) {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads until there are so many bytes, or the stream ends.
    static func read(_ maximum: Int, from socket: Int32) -> (bytes: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < maximum, wait(socket, POLLIN) {
            let count = Glibc.read(socket, &buffer, min(buffer.count, maximum - bytes.count))
            if count == 0 { return (bytes, .finished) }
            if count < 0 { return (bytes, errno == ECONNRESET ? .reset : .open) }
            bytes += buffer[..<count]
        }
        return (bytes, .open)
    }
}

/// The bytes from a publisher: the protocol's header, a heartbeat, and three publishes with bodies of 0, 300 and 20
/// bytes, the second in two frames.
struct AMQPStream {
    private(set) var bytes = Array("AMQP".utf8) + [0, 0, 9, 1]
    /// Where each publish begins and ends.
    private(set) var publishes: [Range<Int>] = []

    init() {
        frame(type: 8, [])
        for parts in [[], [200, 100], [20]] {
            let start = bytes.count
            frame(type: 1, [0, 60, 0, 40, 0, 0, 1, 120, 1, 121, 0])
            let size = parts.reduce(0, +)
            frame(type: 2, [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(size >> 8), UInt8(size & 255), 0, 0])
            for part in parts { frame(type: 3, [UInt8](repeating: 0xCE, count: part)) }
            publishes.append(start..<bytes.count)
        }
        frame(type: 8, [])
    }

    private mutating func frame(type: UInt8, _ payload: [UInt8]) {
        bytes += [type, 0, 1, 0, 0, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload + [0xCE]
    }
}
