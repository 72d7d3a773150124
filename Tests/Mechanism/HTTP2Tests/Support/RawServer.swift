import Crypto
import EventLoop

/// A server of raw peers on a loop of its own.
struct RawServer: Sendable {
    private final class Content {
        var listener: TCPListener?
        var context: TLSContext?
        var bytes: [UInt8] = []
        var closesWhenWritten = false
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
                _ = try? RawPeer(
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

    func stop() async throws {
        try await loop.run { [content] in content.value.listener?.close() }
        loop.stopAndJoin()
    }
}
