import Crypto
import EventLoop

/// A server of raw peers on a loop of its own.
struct RawServer: Sendable {
    private final class Content {
        var listener: TCPListener?
        var context: TLSContext?
        var bytes: [UInt8] = []
        var closesWhenWritten = false
        var newest: RawPeer?
    }

    let port: UInt16
    let loop: EventLoop
    private let content: LoopBound<Content>

    private init(_ content: sending Content, port: UInt16, loop: EventLoop) {
        self.port = port
        self.loop = loop
        self.content = LoopBound(content, to: loop)
    }

    /// Starts a server that says `bytes` to each client, over TLS if there is a context.
    static func start(context: TLSContext?, bytes: [UInt8], closesWhenWritten: Bool) async throws -> RawServer {
        let loop = try EventLoop(name: "test-raw-server")
        return try await loop.run {
            let content = Content()
            content.context = context
            content.bytes = bytes
            content.closesWhenWritten = closesWhenWritten
            let listener = try TCPListener(host: "127.0.0.1", port: 0, loop: loop) { [unowned content] descriptor in
                let session = content.context.flatMap { try? TLSSession(server: $0, socket: descriptor) }
                content.newest = try? RawPeer(
                    loop: loop, descriptor: descriptor, tls: session, bytes: content.bytes,
                    closesWhenWritten: content.closesWhenWritten)
            }
            content.listener = listener
            let port = listener.port
            return RawServer(content, port: port, loop: loop)
        }
    }

    /// Changes what the next client is told.
    func say(_ bytes: [UInt8]) async throws {
        try await loop.run { [content] in content.value.bytes = bytes }
    }

    /// Says something to the newest client and resets its connection.
    func sayAndReset(_ bytes: [UInt8]) async throws {
        try await loop.run { [content] in try content.value.newest?.sayAndReset(bytes) }
    }

    func stop() async throws {
        try await loop.run { [content] in content.value.listener?.close() }
        loop.stopAndJoin()
    }
}

/// Bytes of HTTP/2 frames, written by hand (RFC 9113 section 4.1).
enum Frames {
    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let emptySettings = frame(type: 4, flags: 0, stream: 0, payload: [])

    static func frame(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let header: [UInt8] = [
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
            UInt8(truncatingIfNeeded: count), type, flags,
            UInt8(truncatingIfNeeded: stream >> 24), UInt8(truncatingIfNeeded: stream >> 16),
            UInt8(truncatingIfNeeded: stream >> 8), UInt8(truncatingIfNeeded: stream),
        ]
        return header + payload
    }

    /// A run of frames with random types, flags, streams and content, and sometimes a wrong length.
    static func random(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            let payload = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0 ... .max, using: &generator)
            }
            var frame = frame(
                type: UInt8.random(in: 0...10, using: &generator),
                flags: Bool.random(using: &generator) ? 0 : UInt8.random(in: 0 ... .max, using: &generator),
                stream: UInt32.random(in: 0...5, using: &generator), payload: payload)
            if Int.random(in: 0..<10, using: &generator) == 0 { frame[2] = frame[2] &+ 1 }
            bytes += frame
        }
        return bytes
    }
}
